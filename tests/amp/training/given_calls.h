#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/tests/amp/training/given_gradients.h>

/// Compares calls on gradients that have been looked at, so that each call makes a pass of its own,
/// with the same calls on gradients in 16 bits, which may wait and then make one pass.
namespace halfgrad::amp {

/// The calls that a user writes between backward() and the next iteration.
struct GivenCalls {
  const char* name;
  std::function<void(GivenGradients&)> run;
};

inline void step_and_update_scale(GivenGradients& t) {
  t.scaler.step(*t.optimizer);
  t.scaler.update();
}

/// Puts unscale_ before each of the calls, and step and update after them.
inline std::vector<GivenCalls> between_unscale_and_step(std::vector<GivenCalls> all) {
  for (GivenCalls& calls : all) {
    calls.run = [run = calls.run](GivenGradients& t) {
      t.scaler.unscale_(*t.optimizer);
      run(t);
      step_and_update_scale(t);
    };
  }
  return all;
}

inline const GivenCalls kFourCalls{"unscale, clip, step", [](GivenGradients& t) {
                                     t.scaler.unscale_(*t.optimizer);
                                     t.total_norm = nn::utils::clip_grad_norm_(t.parameters, 1.5);
                                     step_and_update_scale(t);
                                   }};
inline const GivenCalls kTwoCalls{"step", step_and_update_scale};

// A scale that is no power of two shows every rounding.
inline const GradScalerOptions kGivenOptions{.init_scale = 333.7, .growth_interval = 3};
/// With this scaler the calls are those of a program without one.
inline const GradScalerOptions kNoScaler{.enabled = false};
using PrepareTraining = std::function<void(GivenGradients&)>;

/// Runs the calls with gradients that have been looked at and with others, and compares every bit
/// after each step.
inline void expect_same_steps(const GivenCalls& calls, const PassCase& c, Kept kept, Device device,
                              const GradScalerOptions& options,
                              const PrepareTraining& prepare = {}) {
  SCOPED_TRACE(std::string(calls.name) + ", " + c.name + (options.enabled ? "" : ", no scaler"));
  GivenGradients looked(c, c.shapes, device, options), waiting(c, c.shapes, device, options);
  for (int step = 0; step < 5; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    std::vector<Tensor> values = draw_values(c.shapes, step == 4 ? 1e-6 : 0.1 + step, device);
    if (step == 2) values[4].fill_(std::numeric_limits<float>::infinity());
    if (step == 3) values[0] = Tensor();
    for (GivenGradients* training : {&looked, &waiting}) {
      if (step == 0 && prepare) prepare(*training);
      training->backward(values, kept);
      if (training == &looked) training->look();
      calls.run(*training);
    }
    ASSERT_EQ(looked.state(), waiting.state());
    ASSERT_EQ(looked.scaler.state_dict(), waiting.scaler.state_dict());
    ASSERT_EQ(looked.gradients(), waiting.gradients());
  }
}

/// Does so with a scaler, and without.
inline void expect_same_steps(const GivenCalls& calls, const PassCase& c, Kept kept, Device device,
                              const PrepareTraining& prepare = {}) {
  expect_same_steps(calls, c, kept, device, kGivenOptions, prepare);
  expect_same_steps(calls, c, kept, device, kNoScaler, prepare);
}

}  // namespace halfgrad::amp
