#include <optional>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <halfgrad/amp/master_weights.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/optim/adam.h>
#include <halfgrad/tests/amp/training/trained.h>

/// The gradients that unscale_ and step accept, and their values afterwards.
namespace halfgrad::amp {
namespace {

// PyTorch's scaler cannot be used after this error until update(new_scale). Here it can, and the
// error names the optimizer and how many parameters it has.
TEST(GradScaler, RefusesAStepWithoutGradients) {
  GradScaler scaler = started();
  Tensor a = filled({2}, 1).requires_grad_();
  Tensor b = filled({2}, 1).requires_grad_();
  optim::Adam optimizer({a, b});
  for (int attempt = 0; attempt < 2; ++attempt) {
    scaler.unscale_(optimizer);
    const std::string text = message_of<std::runtime_error>([&] { scaler.step(optimizer); });
    EXPECT_NE(text.find("Adam with 2 parameters"), std::string::npos) << text;
    EXPECT_THROW(scaler.update(), std::runtime_error);
  }
  a.set_grad(filled({2}, 4));
  EXPECT_FALSE(scaler.step(optimizer).skipped());
  EXPECT_NO_THROW(scaler.update());
}

TEST(GradScaler, DoesNotChangeParametersWithoutGradients) {
  GradScaler scaler = started();
  Tensor a = filled({1}, 1).requires_grad_();
  Tensor b = filled({1}, 1).requires_grad_();
  optim::SGD optimizer({a, b}, {.lr = 1});
  b.set_grad(filled({1}, 4));
  scaler.step(optimizer);
  EXPECT_EQ(a.item(), 1);
  EXPECT_FALSE(a.grad().defined());
  EXPECT_EQ(b.item(), 0);
}

// A float16 parameter needs a master, as PyTorch refuses to unscale float16 gradients.
TEST(GradScaler, RefusesFloat16WithoutMasterWeightsBeforeTouchingAnything) {
  GradScaler scaler = started();
  Tensor a = filled({1}, 1).requires_grad_();
  Tensor b = filled({1}, 1, kHalf).requires_grad_();
  optim::SGD optimizer({a, b}, {.lr = 1});
  a.set_grad(filled({1}, 4));
  b.set_grad(filled({1}, 4, kHalf));
  for (int attempt = 0; attempt < 2; ++attempt) {  // the stage stays ready
    const std::string expected =
        ": expected gradients of float32, float64 or bfloat16, got float16";
    const std::string unscale =
        message_of<std::invalid_argument>([&] { scaler.unscale_(optimizer); });
    EXPECT_TRUE(unscale.starts_with("unscale_" + expected)) << unscale;
    const std::string step = message_of<std::invalid_argument>([&] { scaler.step(optimizer); });
    EXPECT_TRUE(step.starts_with("step" + expected)) << step;
    EXPECT_EQ(a.item(), 1);
    EXPECT_EQ(a.grad().item(), 4);
    EXPECT_EQ(b.grad().item(), 4);
  }
  b.set_grad(Tensor());
  EXPECT_NO_THROW(scaler.unscale_(optimizer));
}

TEST(GradScaler, AcceptsFloat16WithMasterWeights) {
  for (const bool explicitly : {false, true}) {
    GradScaler scaler = started();
    Trained trained({2}, kHalf);
    const MasterWeights masters(trained.optimizer);
    if (explicitly) scaler.unscale_(trained.optimizer);
    scaler.step(trained.optimizer);
    EXPECT_EQ(trained.value(), Values{0.5});
  }
}

// PyTorch on CUDA refuses bfloat16 gradients; here every device accepts them.
TEST(GradScaler, AcceptsBFloat16AndFloat64) {
  for (const DType dtype : {kBFloat16, kDouble}) {
    for (const bool explicitly : {false, true}) {
      GradScaler scaler = started();
      Trained trained({2}, dtype);
      if (explicitly) scaler.unscale_(trained.optimizer);
      scaler.step(trained.optimizer);
      EXPECT_EQ(trained.gradient(), Values{0.5});
      EXPECT_EQ(trained.value(), Values{0.5});
    }
  }
}

TEST(GradScaler, Float64GradientsTakeTheFloat32Inverse) {
  for (const bool explicitly : {false, true}) {
    GradScaler scaler = started({.init_scale = 3});
    Trained trained({1}, kDouble);
    if (explicitly) scaler.unscale_(trained.optimizer);
    scaler.step(trained.optimizer);
    EXPECT_EQ(trained.gradient(), Values{0.3333333432674408});
  }
}

TEST(GradScaler, SharedGradientIsUnscaledTwice) {
  GradScaler scaler = started();
  Tensor a = filled({1}, 1).requires_grad_();
  Tensor b = filled({1}, 1).requires_grad_();
  Tensor gradient = filled({1}, 16);
  a.set_grad(gradient);
  b.set_grad(gradient);
  optim::SGD optimizer({a, b}, {.lr = 1});
  scaler.unscale_(optimizer);
  EXPECT_EQ(gradient.item(), 1);
}

TEST(GradScaler, RefusesGradientsThatRepeatElements) {
  GradScaler scaler = started();
  Trained trained({1, 1, 1});
  trained.param.set_grad(Tensor(full({1}, 1, {.dtype = kFloat}).array().expand({3})));
  EXPECT_THROW(scaler.unscale_(trained.optimizer), std::invalid_argument);
  EXPECT_THROW(scaler.step(trained.optimizer), std::invalid_argument);

  Trained single({1});
  single.param.set_grad(
      Tensor(full({}, 4, {.dtype = kFloat}).array().expand({1})));  // stride 0, one element
  scaler.step(single.optimizer);
  EXPECT_EQ(single.value(), Values{0});
}

// A parameter has another shape than its gradient and state after set_data(). Nothing may change.
TEST(GradScaler, RefusesAGradientOrAStateOfAnotherShape) {
  for (const bool is_gradient : {true, false}) {
    for (const DType dtype : {kFloat, kHalf}) {
      GradScaler scaler = started();
      Tensor first = filled({1}, 1).requires_grad_();
      Tensor param = filled({40}, 1, dtype).requires_grad_();
      optim::Adam optimizer({first, param});
      std::optional<MasterWeights> masters;
      if (dtype == kHalf) masters.emplace(optimizer);
      param.set_grad(filled({40}, 4, dtype));
      scaler.step(optimizer);
      scaler.update();
      first.set_grad(filled({1}, 4));
      param.set_data(filled({50}, 1, dtype));
      if (!is_gradient) {
        param.set_grad({});
        param.set_grad(filled({50}, 4, dtype));
      }
      const std::string expected =
          is_gradient ? ": expected gradients of their parameters' shapes, got one of [40] for a "
                        "parameter of [50]; call zero_grad() when the shape of a parameter changes"
                      : ": expected exp_avg of shape [50], as the parameter, in the state of Adam, "
                        "got [40]; make a new optimizer when the shape of a parameter changes";
      const auto message = [](const auto& f) { return message_of<std::invalid_argument>(f); };
      EXPECT_EQ(message([&] { scaler.unscale_(optimizer); }), "unscale_" + expected);
      EXPECT_EQ(message([&] { scaler.step(optimizer); }), "step" + expected);
      EXPECT_EQ(message([&] { scaler.step_and_update(optimizer, {.max_norm = 1}); }),
                "step_and_update" + expected);
      EXPECT_EQ(first.item(), 1);
      EXPECT_EQ(first.grad().item(), 4);
      EXPECT_EQ(optimizer.steps(), 1);
    }
  }
}

TEST(GradScaler, ParameterOfTwoOptimizersIsUnscaledTwice) {
  GradScaler scaler = started();
  Trained trained({16});
  optim::SGD other({trained.param}, {.lr = 1});
  scaler.unscale_(trained.optimizer);
  scaler.unscale_(other);
  EXPECT_EQ(trained.gradient(), Values{1});
}

// backward() with create_graph makes such gradients.
TEST(GradScaler, GradientsMayHaveAHistory) {
  for (const bool explicitly : {false, true}) {
    GradScaler scaler = started();
    Trained trained({0});
    scaler.scale(sum(trained.param * trained.param))
        .backward({}, /*retain_graph=*/true, /*create_graph=*/true);
    trained.param.set_grad(trained.param.grad() * filled({1}, 0.5).requires_grad_());
    ASSERT_TRUE(trained.param.grad().requires_grad());
    if (explicitly) scaler.unscale_(trained.optimizer);
    scaler.step(trained.optimizer);
    EXPECT_EQ(trained.gradient(), Values{1});
    EXPECT_EQ(trained.value(), Values{0});
    trained.param.set_grad({});  // a gradient whose history leads to its parameter keeps both alive
  }
}

}  // namespace
}  // namespace halfgrad::amp
