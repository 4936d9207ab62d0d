#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/amp/master_weights.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/graph/narrow_gradient.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/core/launches.h>
#include <halfgrad/optim/clip_grad.h>
#include <halfgrad/optim/optim.h>

#include <halfgrad/tests/amp/training/given_gradients.h>
#include <halfgrad/tests/devices.h>

// step_and_update() gives the bits of unscale_, clip_grad_norm_, step and update.
namespace halfgrad::amp {
namespace {

class StepAndUpdate : public OnDevice {};
HALFGRAD_ON_DEVICES(StepAndUpdate);

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kQuietNaN = std::numeric_limits<float>::quiet_NaN();

/// Trains both ways on the same gradients, and compares every bit after each step.
void expect_equal_bits(const PassCase& c, const std::vector<Shape>& shapes, Kept kept,
                       Device device, double init_scale, int steps) {
  SCOPED_TRACE(std::string(c.name) + ", kept " + std::to_string(static_cast<int>(kept)));
  const GradScalerOptions options{.init_scale = init_scale, .growth_interval = 3};
  GivenGradients by_calls(c, shapes, device, options), at_once(c, shapes, device, options);
  for (int step = 0; step < steps; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    const double size = step % 5 == 4 ? 1e-6 : 0.1 + step;
    std::vector<Tensor> values = draw_values(shapes, size, device);
    if (step % 4 == 2) values.back().fill_(step % 8 == 2 ? kInf : kQuietNaN);
    if (step % 3 == 1 && shapes.size() > 1) values[0] = Tensor();
    by_calls.backward(values, kept);
    at_once.backward(values, kept);
    by_calls.step_by_calls(1.5);
    const bool is_updated = at_once.step_at_once(1.5);
    ASSERT_EQ(by_calls.state(), at_once.state());
    ASSERT_EQ(by_calls.scaler.state_dict(), at_once.scaler.state_dict());
    if (is_updated) {
      ASSERT_EQ(by_calls.gradients(), at_once.gradients());
    }
  }
}

TEST_P(StepAndUpdate, GivesTheBitsOfTheFourCalls) {
  for (const PassCase& c : pass_cases()) {
    for (const Kept kept : {Kept::wide, Kept::half, Kept::bfloat16}) {
      expect_equal_bits(c, kGradientShapes, kept, device(), 1024, 12);
    }
  }
}

TEST_P(StepAndUpdate, GivesThemForScalesThatAreNoPowersOfTwo) {
  for (const PassCase& c : pass_cases()) {
    for (const Kept kept : {Kept::wide, Kept::half, Kept::bfloat16}) {
      expect_equal_bits(c, kGradientShapes, kept, device(), 333.7, 6);
    }
  }
}

TEST_P(StepAndUpdate, TakesListsOfAnyLength) {
  const PassCase adam = pass_cases()[2];
  for (const std::size_t count : {1U, 2U, 33U, 300U, 700U}) {
    std::vector<Shape> shapes(count, Shape{7});
    shapes.back() = {5, 3};
    expect_equal_bits(adam, shapes, Kept::half, device(), 512, 4);
  }
}

// Squares of these gradients overflow in float32 before they are unscaled.
TEST_P(StepAndUpdate, TakesLargeAndSubnormalGradients) {
  const PassCase adam = pass_cases()[2];
  for (const double value : {1e30, 3e38, 1e-40, 1e-45, 0.0}) {
    const GradScalerOptions options{.init_scale = 0x1p60};
    GivenGradients by_calls(adam, {{9}}, device(), options),
        at_once(adam, {{9}}, device(), options);
    for (GivenGradients* training : {&by_calls, &at_once}) {
      training->scaler.scale(training->parameters[0].sum());
      training->parameters[0].set_grad(full({9}, value, {.device = device()}));
    }
    by_calls.step_by_calls(1);
    EXPECT_TRUE(at_once.step_at_once(1));
    EXPECT_EQ(by_calls.state(), at_once.state()) << value;
    EXPECT_EQ(by_calls.gradients(), at_once.gradients()) << value;
  }
}

TEST_P(StepAndUpdate, KeepsHalfPrecisionGradientsNarrowUntilTheyAreLookedAt) {
  GivenGradients training(pass_cases()[2], {{40}}, device(), {.init_scale = 64});
  training.backward({full({40}, 3, {.device = device()})}, Kept::half);
  const Tensor gradient = training.parameters[0].grad();
  EXPECT_TRUE(detail::is_narrow(gradient));
  training.step_at_once(1e9);
  EXPECT_TRUE(detail::is_narrow(gradient));
  EXPECT_EQ(gradient.dtype(), kFloat);
  EXPECT_FALSE(detail::is_narrow(gradient));
  EXPECT_EQ(gradient.to_vector<double>(), std::vector<double>(40, 3));
}

TEST_P(StepAndUpdate, TakesTwoLaunchesOnAGpu) {
  if (device().is_cpu()) GTEST_SKIP();
  for (const PassCase& c : pass_cases()) {
    GivenGradients training(c, kGradientShapes, device(), {});
    for (int step = 0; step < 2; ++step) {
      training.backward(draw_values(kGradientShapes, 1, device()), Kept::half);
      const auto before = detail::launches;
      static_cast<void>(training.scaler.step_and_update(*training.optimizer, {.max_norm = 1}));
      if (step == 1) {
        EXPECT_EQ(detail::launches - before, 2) << c.name;
      }
    }
  }
}

TEST_P(StepAndUpdate, IsTheFourCallsWhereTwoPassesDoNotFit) {
  const PassCase adam = pass_cases()[2];
  const std::vector<Shape> shapes = {{3, 5}, {6}};
  const std::vector<GradScalerOptions> all = {
      {.history = 4}, {.check_after_unscale = true}, {.enabled = false}};
  for (GradScalerOptions options : all) {
    options.init_scale = 128;
    GivenGradients by_calls(adam, shapes, device(), options),
        at_once(adam, shapes, device(), options);
    for (int step = 0; step < 3; ++step) {
      const auto values = draw_values(shapes, 10, device());
      by_calls.backward(values, Kept::half);
      at_once.backward(values, Kept::half);
      by_calls.scaler.unscale_(*by_calls.optimizer);
      nn::utils::clip_grad_norm_(by_calls.parameters, 1);
      by_calls.scaler.step(*by_calls.optimizer);
      by_calls.scaler.update();
      at_once.step_at_once(1);
      EXPECT_EQ(by_calls.gradients(), at_once.gradients());
      EXPECT_EQ(bytes_of(by_calls.parameters[0].array()), bytes_of(at_once.parameters[0].array()));
      EXPECT_EQ(by_calls.scaler.state_dict(), at_once.scaler.state_dict());
    }
  }
}

TEST_P(StepAndUpdate, MayFollowUnscale) {
  const PassCase adam = pass_cases()[2];
  const GradScalerOptions options{.init_scale = 64};
  GivenGradients by_calls(adam, {{8}}, device(), options), at_once(adam, {{8}}, device(), options);
  for (GivenGradients* training : {&by_calls, &at_once}) {
    training->backward({full({8}, 3, {.device = device()})}, Kept::half);
  }
  by_calls.step_by_calls(1);
  at_once.scaler.unscale_(*at_once.optimizer);
  EXPECT_EQ(at_once.parameters[0].grad()[0].item(), 3);
  EXPECT_TRUE(at_once.step_at_once(1));
  EXPECT_EQ(by_calls.state(), at_once.state());
}

TEST_P(StepAndUpdate, WithoutANormIsStepAndUpdate) {
  GivenGradients training(pass_cases()[0], {{8}}, device(),
                          {.init_scale = 4, .growth_interval = 1});
  training.backward({full({8}, 3, {.device = device()})}, Kept::wide);
  const StepOutcome outcome = training.scaler.step_and_update(*training.optimizer);
  EXPECT_FALSE(outcome.skipped());
  EXPECT_FALSE(outcome.total_norm().defined());
  EXPECT_EQ(training.scaler.get_scale(), 8);
  EXPECT_EQ(training.parameters[0].grad()[0].item(), 3);
}

TEST_P(StepAndUpdate, RefusesWhatTheCallsRefuse) {
  GivenGradients training(pass_cases()[2], {{8}}, device(), {});
  const optim::Adam other(std::vector{zeros({2}).requires_grad_()});
  EXPECT_THROW(static_cast<void>(training.scaler.step_and_update(*training.optimizer, {1.0})),
               std::runtime_error);  // no scaled loss
  training.scaler.scale(training.parameters[0].sum());
  EXPECT_THROW(static_cast<void>(training.scaler.step_and_update(*training.optimizer, {1.0})),
               std::runtime_error);  // no gradient
  training.backward({full({8}, 3, {.device = device()})}, Kept::wide);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(static_cast<void>(training.scaler.step_and_update(*training.optimizer, {nan})),
               std::invalid_argument);
  EXPECT_TRUE(training.step_at_once(1));
  EXPECT_THROW(training.step_at_once(1), std::runtime_error);  // unscaled before
}

TEST_P(StepAndUpdate, IsCapturedByAGraph) {
  for (const Kept kept : {Kept::wide, Kept::half}) {
    const PassCase adam = pass_cases()[2];
    const GradScalerOptions options{.init_scale = 256, .growth_interval = 2};
    GivenGradients eager(adam, kGradientShapes, device(), options),
        captured(adam, kGradientShapes, device(), options);
    std::vector<Tensor> values = draw_values(kGradientShapes, 1, device());
    const auto step = [&](GivenGradients& training) {
      training.backward(values, kept);
      training.step_at_once(1);
    };
    const auto queue = [&] {
      captured.backward(values, kept);
      captured.total_norm =
          captured.scaler.step_and_update(*captured.optimizer, {.max_norm = 1}).total_norm();
    };
    step(eager);
    queue();
    Graph graph(device());
    graph.capture(queue);
    for (int replay = 0; replay < 6; ++replay) {
      const std::vector<Tensor> drawn = draw_values(kGradientShapes, 1, device());
      for (std::size_t i = 0; i < values.size(); ++i) values[i].array().copy_(drawn[i].array());
      if (replay == 3) values[0].fill_(kInf);
      step(eager);
      graph.replay();
      ASSERT_EQ(eager.state(), captured.state()) << replay;
      if (replay != 3) {
        ASSERT_EQ(eager.gradients(), captured.gradients()) << replay;
      }
    }
  }
}

// The backward pass alone is captured. Every replay makes new gradients.
TEST_P(StepAndUpdate, FollowsACapturedBackwardPass) {
  const PassCase adam = pass_cases()[2];
  const GradScalerOptions options{.init_scale = 64};
  GivenGradients eager(adam, {{40}}, device(), options), captured(adam, {{40}}, device(), options);
  Tensor values = full({40}, 1, {.device = device()});
  const auto queue = [&] { captured.backward({values}, Kept::half); };
  queue();
  Graph graph(device());
  graph.capture(queue);
  for (int step = 0; step < 4; ++step) {
    values.array().fill_(step + 1);
    eager.backward({values}, Kept::half);
    graph.replay();
    if (step == 1) {
      EXPECT_EQ(captured.parameters[0].grad()[0].item(), 2 * captured.scaler.get_scale());
    }
    eager.step_at_once(1);
    captured.step_at_once(1);
    ASSERT_EQ(eager.state(), captured.state()) << step;
    ASSERT_EQ(eager.gradients(), captured.gradients()) << step;
  }
}

}  // namespace
}  // namespace halfgrad::amp
