#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/tests/amp/training/trained.h>

/// GradScaler::scale: the first loss makes the scale; results follow type promotion.
namespace halfgrad::amp {
namespace {

TEST(GradScaler, ScaledTypeFollowsPromotion) {
  const struct {
    DType dtype;
    Shape sizes;
    double value;
    DType scaled_dtype;
    double scaled;
  } cases[] = {
      {kFloat, {}, 2, kFloat, 131072},       {kHalf, {}, 1, kFloat, 65536},
      {kHalf, {2}, 1, kHalf, kInfinite},     {kBFloat16, {}, 1, kFloat, 65536},
      {kBFloat16, {2}, 1, kBFloat16, 65536}, {kDouble, {}, 1, kDouble, 65536},
      {kDouble, {2}, 1, kDouble, 65536},     {kLong, {}, 3, kFloat, 196608},
      {kLong, {2}, 3, kFloat, 196608},       {kBool, {}, 1, kFloat, 65536},
  };
  for (const auto& c : cases) {
    GradScaler scaler;
    const Tensor scaled = scaler.scale(filled(c.sizes, c.value, c.dtype));
    EXPECT_EQ(scaled.dtype(), c.scaled_dtype) << name(c.dtype);
    EXPECT_EQ(scaled.to_vector<double>()[0], c.scaled) << name(c.dtype);
  }
}

TEST(GradScaler, ScaleIsDifferentiable) {
  GradScaler scaler({.init_scale = 1024});
  Tensor x = filled({3}, 2).requires_grad_();
  scaler.scale((x * x).sum()).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (Values{4096, 4096, 4096}));
}

TEST(GradScaler, ScalesLists) {
  GradScaler scaler({.init_scale = 2});
  const std::vector<Tensor> scaled =
      scaler.scale(std::vector{filled({}, 1), filled({2}, 3, kDouble)});
  ASSERT_EQ(scaled.size(), 2);
  EXPECT_EQ(scaled[0].item(), 2);
  EXPECT_EQ(scaled[1].to_vector<double>(), (Values{6, 6}));
  EXPECT_EQ(scaled[1].dtype(), kDouble);
}

TEST(GradScaler, RefusesAnUndefinedTensor) {
  GradScaler scaler;
  EXPECT_THROW(scaler.scale(Tensor()), std::invalid_argument);
}

TEST(GradScaler, NeedsAScaledLossFirst) {
  GradScaler scaler;
  Trained trained({1});
  EXPECT_TRUE(scaler.scale(std::vector<Tensor>()).empty());  // an empty list makes no scale
  const std::function<void()> calls[] = {
      [&] { scaler.unscale_(trained.optimizer); }, [&] { scaler.step(trained.optimizer); },
      [&] { scaler.update(); }, [&] { scaler.update(3.0); }, [&] { scaler.update(filled({}, 3)); }};
  for (const auto& call : calls) {
    EXPECT_NE(message_of<std::runtime_error>(call).find("scale()"), std::string::npos);
  }
  EXPECT_EQ(trained.gradient(), Values{1});
}

TEST(GradScaler, ScaleNeedsNoGradient) {
  GradScaler scaler;
  EXPECT_FALSE(scaler.scale(filled({}, 1)).requires_grad());
  EXPECT_TRUE(scaler.scale(filled({}, 1).requires_grad_()).requires_grad());
}

// The scale is one array for the scaler's life, so that captured graphs stay valid. A loss scaled
// before a change can therefore not be differentiated after it.
TEST(GradScaler, ChangesItsScaleInPlace) {
  GradScaler scaler = started();
  const Tensor x = filled({}, 1).requires_grad_();
  const Tensor before = scaler.scale(x * x);
  scaler.update(2.0);
  const std::string text = message_of<std::runtime_error>([&] { before.backward(); });
  EXPECT_NE(text.find("mul"), std::string::npos) << text;
  scaler.scale(x * x).backward();
  EXPECT_EQ(x.grad().item(), 4);
}

}  // namespace
}  // namespace halfgrad::amp
