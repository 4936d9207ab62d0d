#include <cmath>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/async/async_grad_scaler.h>
#include <halfgrad/tests/amp/training/trained.h>
#include <halfgrad/tests/async/schedules.h>

/// The result of an asynchronous training depends on its calls alone: it is the same in every
/// interleaving of the caller and the update thread.
namespace halfgrad::amp {
namespace {

using testing::for_each_schedule;
using testing::Schedule;

constexpr double kStart = 8, kLearningRate = 0.25;

struct Modes {
  bool async_step, async_update;
};
constexpr Modes kModes[] = {{false, false}, {false, true}, {true, false}, {true, true}};

struct Trace {
  Values parameters, scales, unscaled_by;
  bool operator==(const Trace&) const = default;
};

// Loss p^2 / 2, infinite if the step's bit of `bad` is set; the scale doubles after every good
// step.
Trace train(int steps, unsigned bad, Modes modes,
            const std::shared_ptr<optim::UpdateThread>& thread,
            const std::function<void(bool in_job)>& pause) {
  Tensor p = filled({1}, kStart).requires_grad_();
  optim::SGD sgd({p}, {.lr = kLearningRate});
  optim::AsyncOptimizer optimizer(sgd, thread);
  AsyncGradScaler scaler(optimizer, {.init_scale = 4, .growth_interval = 1});
  Trace trace;
  for (int k = 0; k < steps; ++k) {
    trace.parameters.push_back(p.to_vector<double>()[0]);
    const Tensor loss = sum(p * p) * ((bad >> k & 1U) != 0 ? kInfinite : 0.5);
    const Tensor scaled = scaler.scale(loss);
    trace.scales.push_back(scaler.get_scale());
    pause(false);
    scaled.backward();
    optimizer.step(
        [&](optim::Optimizer& o) {
          scaler.unscale_(o);
          trace.unscaled_by.push_back(scaler.get_scale());
          pause(true);
          scaler.step(o);
        },
        modes.async_step);
    scaler.update(modes.async_update);
  }
  optimizer.synchronize();
  trace.parameters.push_back(p.to_vector<double>()[0]);
  return trace;
}

// The recurrences: parameters one update old, and u(s(k+1), inf(k)) for the scale after next.
Trace expected(int steps, unsigned bad, Modes modes) {
  Trace trace;
  Values p{kStart}, s{4};
  double next = 4;
  for (int k = 0; k < steps; ++k) {
    const bool skipped = (bad >> k & 1U) != 0;
    const double used = modes.async_step && k > 0 ? p[k - 1] : p[k];
    trace.parameters.push_back(used);
    trace.scales.push_back(s[k]);
    p.push_back(skipped ? p[k] : p[k] - kLearningRate * used);
    const double updated = next * (skipped ? 0.5 : 2);
    s.push_back(modes.async_update ? next : updated);
    next = updated;
  }
  trace.unscaled_by = trace.scales;
  trace.parameters.push_back(p[steps]);
  return trace;
}

std::size_t check_every_schedule(int steps, unsigned bad, Modes modes, bool pauses) {
  const Trace wanted = expected(steps, bad, modes);
  return for_each_schedule([&](Schedule& schedule) {
    const auto thread = std::make_shared<optim::UpdateThread>(schedule.observer());
    const Trace got = train(steps, bad, modes, thread, [&](bool in_job) {
      if (pauses) schedule.pause(in_job);
    });
    EXPECT_EQ(got.parameters, wanted.parameters) << ::testing::PrintToString(schedule.choices());
    EXPECT_EQ(got.scales, wanted.scales) << ::testing::PrintToString(schedule.choices());
    EXPECT_EQ(got.unscaled_by, wanted.scales) << ::testing::PrintToString(schedule.choices());
  });
}

// Every interleaving at the points of the job queue.
TEST(AsyncSchedules, ThreeSteps) {
  for (const Modes& modes : kModes) {
    for (const unsigned bad : {0b000U, 0b001U, 0b110U}) {
      EXPECT_GE(check_every_schedule(3, bad, modes, false), 64);
    }
  }
}

// Adds points between forward and backward, and in the middle of a step.
TEST(AsyncSchedules, TwoStepsInPieces) {
  for (const Modes& modes : kModes) {
    for (const unsigned bad : {0b00U, 0b01U}) {
      EXPECT_GE(check_every_schedule(2, bad, modes, true), 36);
    }
  }
}

}  // namespace
}  // namespace halfgrad::amp
