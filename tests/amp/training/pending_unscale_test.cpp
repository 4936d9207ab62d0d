#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/autograd/graph/narrow_gradient.h>
#include <halfgrad/core/launches.h>

#include <halfgrad/tests/amp/training/clipping_calls.h>
#include <halfgrad/tests/amp/training/given_calls.h>
#include <halfgrad/tests/devices.h>

// unscale_(), clip_grad_norm_() and step() may wait, and then make one pass over the gradients in
// 16 bits. Nobody can tell: every order of calls gives the bits that it gives if each gradient has
// been looked at before, so that each call makes a pass of its own.
namespace halfgrad::amp {
namespace {

using nn::utils::clip_grad_norm_;

class PendingUnscales : public OnDevice {};
HALFGRAD_ON_DEVICES(PendingUnscales);

std::vector<GivenCalls> calls_without_clipping() {
  return {
      kTwoCalls,
      {"unscale, step",
       [](GivenGradients& t) {
         t.scaler.unscale_(*t.optimizer);
         step_and_update_scale(t);
       }},
      {"unscale, no step",
       [](GivenGradients& t) {
         t.scaler.unscale_(*t.optimizer);
         t.scaler.update();
       }},
      {"unscale, set the scale",
       [](GivenGradients& t) {
         t.scaler.unscale_(*t.optimizer);
         t.scaler.update(t.scaler.get_scale() + 1);
       }},
      {"unscale, abandon",
       [](GivenGradients& t) {
         t.scaler.unscale_(*t.optimizer);
         t.scaler.abandon();
       }},
      {"step by itself",
       [](GivenGradients& t) {
         t.scaler.unscale_(*t.optimizer);
         t.optimizer->step();
         t.scaler.update();
       }},
  };
}

TEST_P(PendingUnscales, GiveTheBitsOfPassesOfTheirOwn) {
  for (const PassCase& c : pass_cases()) {
    for (const Kept kept : {Kept::half, Kept::bfloat16, Kept::mixed, Kept::wide}) {
      expect_same_steps(kFourCalls, c, kept, device());
      expect_same_steps(kTwoCalls, c, kept, device());
      expect_same_steps(calls_without_clipping()[1], c, kept, device());
    }
  }
}

TEST_P(PendingUnscales, GiveThemForEveryWayOfClipping) {
  for (const GivenCalls& calls : calls_with_clipping()) {
    expect_same_steps(calls, pass_cases()[2], Kept::half, device());
    expect_same_steps(calls, pass_cases()[2], Kept::mixed, device());
  }
}

TEST_P(PendingUnscales, GiveThemWithoutClipping) {
  for (const GivenCalls& calls : calls_without_clipping()) {
    expect_same_steps(calls, pass_cases()[2], Kept::half, device());
    expect_same_steps(calls, pass_cases()[2], Kept::mixed, device());
  }
}

std::vector<Tensor> ones_of(const std::vector<Shape>& shapes, Device device) {
  std::vector<Tensor> values;
  for (const Shape& shape : shapes) values.push_back(ones(shape, {.device = device}));
  return values;
}

TEST_P(PendingUnscales, KeepGradientsNarrow) {
  const Kept mixed = Kept::mixed;
  for (const PassCase& c : pass_cases()) {
    for (const GradScalerOptions& options : {kGivenOptions, kNoScaler}) {
      GivenGradients t(c, kGradientShapes, device(), options);
      t.backward(ones_of(kGradientShapes, device()), mixed);
      kFourCalls.run(t);
      for (const Tensor& gradient : t.defined_gradients()) EXPECT_TRUE(detail::is_narrow(gradient));
      EXPECT_EQ(t.parameters[0].grad().dtype(), kFloat);
      t.backward(ones_of(kGradientShapes, device()), mixed);
      kTwoCalls.run(t);
      for (const Tensor& gradient : t.defined_gradients()) EXPECT_TRUE(detail::is_narrow(gradient));
    }
  }
}

TEST_P(PendingUnscales, GiveTheBitsToOptimizersWithLongerUpdates) {
  for (const PassCase& c : longer_cases()) {
    for (const Kept kept : {Kept::half, Kept::mixed, Kept::wide}) {
      expect_same_steps(kFourCalls, c, kept, device());
      expect_same_steps(kTwoCalls, c, kept, device());
    }
    GivenGradients t(c, c.shapes, device(), kGivenOptions);
    t.backward(ones_of(c.shapes, device()), Kept::half);
    kFourCalls.run(t);
    for (const Tensor& gradient : t.defined_gradients()) EXPECT_TRUE(detail::is_narrow(gradient));
  }
}

// A look at a norm is no look at a gradient.
TEST_P(PendingUnscales, KeepThemWhenTheNormIsLookedAt) {
  GivenGradients t(pass_cases()[2], kGradientShapes, device(), kGivenOptions);
  t.backward(ones_of(kGradientShapes, device()), Kept::half);
  t.scaler.unscale_(*t.optimizer);
  EXPECT_GT(clip_grad_norm_(t.parameters, 1, 2, true).item(), 1);
  step_and_update_scale(t);
  for (const Tensor& gradient : t.defined_gradients()) EXPECT_TRUE(detail::is_narrow(gradient));
}

std::int64_t launches_of(const GivenCalls& calls, GivenGradients& t, Kept kept = Kept::half) {
  for (int step = 0; step < 2; ++step) {
    t.backward(ones_of(kGradientShapes, t.parameters[0].device()), kept);
    const auto before = detail::launches;
    calls.run(t);
    if (step == 1) return detail::launches - before;
  }
  return -1;
}

TEST_P(PendingUnscales, TakeThreeLaunchesOnAGpu) {
  if (device().is_cpu()) GTEST_SKIP();
  for (const PassCase& c : pass_cases()) {
    for (const GivenCalls& calls : {kFourCalls, kTwoCalls, calls_without_clipping()[1]}) {
      GivenGradients t(c, kGradientShapes, device(), kGivenOptions);
      EXPECT_EQ(launches_of(calls, t), 3) << c.name << ", " << calls.name;
    }
  }
  for (const Kept kept : {Kept::mixed, Kept::wide}) {
    GivenGradients t(pass_cases()[2], kGradientShapes, device(), kGivenOptions);
    EXPECT_EQ(launches_of(kFourCalls, t, kept), 3);
  }
  GivenGradients t(pass_cases()[2], kGradientShapes, device(), kGivenOptions);
  EXPECT_EQ(launches_of(kClipAndLook, t), 6);
}

// A step that does not clip counts by itself.
TEST_P(PendingUnscales, TakeTwoLaunchesOnAGpuWithoutAScaler) {
  if (device().is_cpu()) GTEST_SKIP();
  for (const PassCase& c : pass_cases()) {
    for (const GivenCalls& calls : {kFourCalls, kTwoCalls}) {
      GivenGradients t(c, kGradientShapes, device(), kNoScaler);
      const bool is_one = std::string(c.name) + calls.name == "sgdstep";
      EXPECT_EQ(launches_of(calls, t), is_one ? 1 : 2) << c.name << ", " << calls.name;
      for (const Tensor& gradient : t.defined_gradients()) EXPECT_TRUE(detail::is_narrow(gradient));
    }
  }
}

TEST_P(PendingUnscales, TakeTheSameLaunchesForGradientsOfTwoDtypes) {
  if (device().is_cpu()) GTEST_SKIP();
  for (const Kept kept : {Kept::mixed, Kept::wide}) {
    GivenGradients t(pass_cases()[2], kGradientShapes, device(), kNoScaler);
    EXPECT_EQ(launches_of(kFourCalls, t, kept), 2);
  }
}

// 400 tensors of two chunks: more than the blocks of the pass, each of which then takes two chunks.
TEST_P(PendingUnscales, TakeMoreChunksThanBlocks) {
  const std::vector<Shape> shapes(400, Shape{4097});
  const PassCase sgd = pass_cases()[0];
  for (const double last : {0.5, std::numeric_limits<double>::infinity()}) {
    GivenGradients looked(sgd, shapes, device(), kGivenOptions),
        waiting(sgd, shapes, device(), kGivenOptions);
    std::vector<Tensor> values = draw_values(shapes, 1, device());
    values[399][4096].fill_(last);
    for (GivenGradients* training : {&looked, &waiting}) {
      training->backward(values, Kept::half);
      if (training == &looked) training->look();
      kFourCalls.run(*training);
    }
    EXPECT_EQ(looked.state(), waiting.state());
  }
}

// A step by itself counts no skipped steps.
TEST_P(PendingUnscales, LeaveSkippedStepsUndefinedWithoutAScaler) {
  GivenGradients t(pass_cases()[2], kGradientShapes, device(), kNoScaler);
  t.backward(ones_of(kGradientShapes, device()), Kept::half);
  kFourCalls.run(t);
  EXPECT_FALSE(t.optimizer->skipped_steps().defined());
}

// Clips each half of the parameters by itself.
TEST_P(PendingUnscales, GiveThemForTwoClippedGroups) {
  const GivenCalls calls{"clip halves", [](GivenGradients& t) {
                           const auto middle = t.parameters.begin() + 4;
                           clip_grad_norm_({t.parameters.begin(), middle}, 0.5);
                           t.total_norm = clip_grad_norm_({middle, t.parameters.end()}, 1.5);
                           t.optimizer->step();
                         }};
  expect_same_steps(calls, pass_cases()[2], Kept::bfloat16, device(), kNoScaler);
}

TEST_P(PendingUnscales, TakeListsOfAnyLength) {
  for (const std::size_t count : {1U, 33U, 700U}) {
    const std::vector<Shape> shapes(count, Shape{7});
    GivenGradients looked(pass_cases()[2], shapes, device(), kGivenOptions),
        waiting(pass_cases()[2], shapes, device(), kGivenOptions);
    const std::vector<Tensor> values = draw_values(shapes, 1, device());
    for (GivenGradients* training : {&looked, &waiting}) {
      training->backward(values, Kept::half);
      if (training == &looked) training->look();
      kFourCalls.run(*training);
    }
    EXPECT_EQ(looked.state(), waiting.state());
    EXPECT_EQ(looked.gradients(), waiting.gradients());
  }
}

}  // namespace
}  // namespace halfgrad::amp
