#include <deque>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/core/allocator.h>
#include <halfgrad/tests/amp/training/trained.h>

/// unscale_, step and update: the order of calls, and the found_inf that decides.
namespace halfgrad::amp {
namespace {

enum class Call { unscale, step, update, update_to, update_to_tensor };

struct Transition {
  std::vector<Call> calls;
  bool last_throws;
};
const Transition kTransitions[] = {
    {{Call::unscale}, false},
    {{Call::step}, false},
    {{Call::update}, true},
    {{Call::update_to}, false},
    {{Call::unscale, Call::unscale}, true},
    {{Call::unscale, Call::step}, false},
    {{Call::unscale, Call::update}, false},
    {{Call::unscale, Call::update_to}, false},
    {{Call::step, Call::unscale}, true},
    {{Call::step, Call::step}, true},
    {{Call::step, Call::update}, false},
    {{Call::step, Call::update_to}, false},
    {{Call::unscale, Call::step, Call::unscale}, true},
    {{Call::unscale, Call::step, Call::step}, true},
    {{Call::unscale, Call::update, Call::unscale}, false},
    {{Call::unscale, Call::update_to, Call::unscale}, false},
    {{Call::step, Call::update, Call::step}, false},
    {{Call::step, Call::update, Call::unscale}, false},
    {{Call::step, Call::update_to, Call::step}, false},
    {{Call::step, Call::update_to_tensor, Call::step}, false},
    {{Call::step, Call::update, Call::update}, true},
};

TEST(GradScaler, AllowsExactlyTheCallsOfItsTable) {
  for (std::size_t row = 0; row < std::size(kTransitions); ++row) {
    SCOPED_TRACE("row " + std::to_string(row));
    GradScaler scaler = started();
    Trained trained({4});
    const auto call = [&](Call which) {
      switch (which) {
        case Call::unscale:
          return scaler.unscale_(trained.optimizer);
        case Call::step:
          scaler.step(trained.optimizer);
          return;
        case Call::update:
          return scaler.update();
        case Call::update_to:
          return scaler.update(8.0);
        case Call::update_to_tensor:
          return scaler.update(filled({}, 8));
      }
    };
    const auto& [calls, last_throws] = kTransitions[row];
    for (std::size_t i = 0; i + 1 < calls.size(); ++i) ASSERT_NO_THROW(call(calls[i]));
    if (last_throws) {
      EXPECT_THROW(call(calls.back()), std::runtime_error);
    } else {
      EXPECT_NO_THROW(call(calls.back()));
    }
  }
}

TEST(GradScaler, StepDoesNotUnscaleAgain) {
  for (const bool explicitly : {false, true}) {
    GradScaler scaler = started();
    Trained trained({2, 4});
    if (explicitly) scaler.unscale_(trained.optimizer);
    EXPECT_FALSE(scaler.step(trained.optimizer).skipped());
    EXPECT_EQ(trained.gradient(), (Values{0.5, 1}));
    EXPECT_EQ(trained.value(), (Values{0.5, 0}));
  }
}

// After step() the gradients are unscaled, unless the step was skipped: for every optimizer.
TEST(GradScaler, SkippedStepChangesNothing) {
  for (const double bad : {kInfinite, -kInfinite, kNaN}) {
    GradScaler scaler = started();
    Trained trained({bad, 4});
    EXPECT_TRUE(scaler.step(trained.optimizer).skipped());
    expect_same(trained.gradient(), {bad, 4});
    EXPECT_EQ(trained.value(), (Values{1, 1}));
    scaler.update();
    EXPECT_EQ(scaler.get_scale(), 2);
  }
}

TEST(GradScaler, UnscaleWithoutStepCounts) {
  GradScaler scaler = started({.init_scale = 4, .growth_interval = 2});
  Trained trained({4});
  scaler.unscale_(trained.optimizer);
  scaler.update();
  EXPECT_EQ(scaler.get_growth_tracker(), 1);
  trained.set({kInfinite});
  scaler.unscale_(trained.optimizer);
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 2);
  EXPECT_EQ(scaler.get_growth_tracker(), 0);
  EXPECT_EQ(trained.value(), Values{1});
}

TEST(GradScaler, FoundInfIsThatOfTheFirstCheck) {
  GradScaler scaler = started();
  Trained trained({kInfinite});
  scaler.unscale_(trained.optimizer);
  trained.set({1});  // repaired too late
  EXPECT_TRUE(scaler.step(trained.optimizer).skipped());
  EXPECT_EQ(trained.value(), Values{1});
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 2);

  trained.set({1});
  scaler.unscale_(trained.optimizer);
  trained.set({kNaN});  // broken after the check
  EXPECT_FALSE(scaler.step(trained.optimizer).skipped());
  expect_same(trained.value(), {kNaN});
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 2);
}

// The outcome of every step says whether it was skipped.
TEST(GradScaler, OutcomesStayReadable) {
  GradScaler scaler = started();
  Trained trained({kInfinite});
  const StepOutcome first = scaler.step(trained.optimizer);
  scaler.update();
  trained.set({1});
  const StepOutcome second = scaler.step(trained.optimizer);
  scaler.update();
  EXPECT_TRUE(first.skipped());
  EXPECT_FALSE(second.skipped());
}

// An optimizer that skips by itself is always called: hooks run and schedulers count.
TEST(GradScaler, SkippedStepsRunHooks) {
  GradScaler scaler = started();
  Trained trained({kNaN});
  int before = 0, after = 0;
  trained.optimizer.register_step_pre_hook([&](optim::Optimizer&) { ++before; });
  trained.optimizer.register_step_post_hook([&](optim::Optimizer&) { ++after; });
  EXPECT_TRUE(scaler.step(trained.optimizer).skipped());
  EXPECT_EQ(before, 1);
  EXPECT_EQ(after, 1);
}

/// The results of a step that a repeated step must equal.
struct Aftermath {
  Values value, gradient;
  std::int64_t steps, skipped_steps;
  std::string report;
  bool operator==(const Aftermath&) const = default;
};

/// An iteration in which step() is refused by a hook `failures` times.
Aftermath retried(bool unscale, int failures, double gradient) {
  GradScaler scaler = started({.init_scale = 4, .history = 8});
  Trained trained({gradient, 8});
  int calls = 0;
  trained.optimizer.register_step_pre_hook([&](optim::Optimizer&) {
    if (calls++ < failures) throw std::runtime_error("not now");
  });
  if (unscale) scaler.unscale_(trained.optimizer);
  for (int i = 0; i < failures; ++i) {
    EXPECT_EQ(message_of([&] { scaler.step(trained.optimizer); }), "not now");
  }
  scaler.step(trained.optimizer);
  EXPECT_THROW(scaler.step(trained.optimizer), std::runtime_error);
  scaler.update();
  std::ostringstream report;
  write_csv(report, scaler.reports());
  const auto [steps, skipped_steps, growths, backoffs] = scaler.counts();
  return {trained.value(), trained.gradient(), steps, skipped_steps, report.str()};
}

TEST(GradScaler, StepRefusedByAHookMayBeRepeated) {
  for (const bool unscale : {false, true}) {
    for (const double gradient : {16.0, kInfinite}) {
      const Aftermath straight = retried(unscale, 0, gradient);
      EXPECT_EQ(retried(unscale, 1, gradient), straight) << unscale << gradient;
      EXPECT_EQ(retried(unscale, 3, gradient), straight) << unscale << gradient;
      EXPECT_EQ(straight.steps + straight.skipped_steps, 1);
    }
  }
}

// The gradients of a refused step may be dropped: it has no found_inf.
TEST(GradScaler, RefusedStepHasNoFoundInf) {
  GradScaler scaler = started();
  Trained refused({kInfinite}), other({4});
  refused.optimizer.register_step_pre_hook([](optim::Optimizer&) { throw std::runtime_error(""); });
  EXPECT_THROW(scaler.step(refused.optimizer), std::runtime_error);
  EXPECT_THROW(scaler.update(), std::runtime_error);  // no optimizer was stepped
  scaler.step(other.optimizer);
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 4);
  EXPECT_EQ(scaler.get_growth_tracker(), 1);
}

TEST(GradScaler, UnscaleThatFailsHasNoFoundInf) {
  GradScaler scaler = started({.init_scale = 4, .growth_interval = 1, .history = 4});
  Trained trained({4});
  const Device device = trained.param.device();
  std::int64_t failures = 0;
  for (bool fails = true; fails; ++failures) {
    allocator::fail_allocation(device, failures + 1);
    fails = message_of([&] { scaler.unscale_(trained.optimizer); }) != "no error";
    allocator::fail_allocation(device, 0);
    if (!fails) break;
    EXPECT_THROW(scaler.update(), std::runtime_error);  // nothing was checked
    EXPECT_EQ(trained.gradient(), Values{4});
  }
  EXPECT_GT(failures, 0);
  EXPECT_EQ(trained.gradient(), Values{1});
  scaler.step(trained.optimizer);
  scaler.update();
  EXPECT_EQ(trained.value(), Values{0});
  EXPECT_EQ(scaler.get_scale(), 8);
  EXPECT_EQ(scaler.reports().size(), 1);
}

// The update has begun, so a repeated step would be a second one. The gradients count as scaled,
// and only update() may follow.
TEST(GradScaler, StepWhosePostHookThrowsIsNotRepeated) {
  GradScaler scaler = started();
  Trained trained({4});
  trained.optimizer.register_step_post_hook(
      [](optim::Optimizer&) { throw std::runtime_error("afterwards"); });
  EXPECT_EQ(message_of([&] { scaler.step(trained.optimizer); }), "afterwards");
  EXPECT_EQ(trained.value(), Values{0});
  EXPECT_THROW(scaler.step(trained.optimizer), std::runtime_error);
  scaler.update();
  EXPECT_EQ(trained.value(), Values{0});
}

TEST(GradScaler, HookMayCheckAnotherOptimizer) {
  GradScaler scaler = started();
  Trained trained({4});
  std::deque<Trained> others;
  for (int i = 0; i < 20; ++i) others.emplace_back(Values{4});
  trained.optimizer.register_step_pre_hook([&](optim::Optimizer&) {
    for (Trained& other : others) scaler.unscale_(other.optimizer);
  });
  EXPECT_FALSE(scaler.step(trained.optimizer).skipped());
  EXPECT_EQ(trained.value(), Values{0});
}

TEST(GradScaler, RefusedUpdateKeepsTheIteration) {
  GradScaler scaler = started();
  Trained trained({kInfinite});
  scaler.step(trained.optimizer);
  EXPECT_THROW(scaler.update(-1.0), std::invalid_argument);
  EXPECT_THROW(scaler.update(filled({2}, 8)), std::invalid_argument);
  EXPECT_THROW(scaler.step(trained.optimizer), std::runtime_error);
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 2);
}

TEST(GradScaler, OptimizerWithoutGradientsDoesNotStopOthers) {
  GradScaler scaler = started();
  Trained trained({4});
  Trained empty({4});
  empty.param.set_grad(Tensor());
  scaler.step(trained.optimizer);
  EXPECT_THROW(scaler.step(empty.optimizer), std::runtime_error);
  scaler.update();
  EXPECT_EQ(scaler.get_growth_tracker(), 1);
}

}  // namespace
}  // namespace halfgrad::amp
