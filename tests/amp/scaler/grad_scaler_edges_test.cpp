#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/optim/adam.h>
#include <halfgrad/tests/amp/training/trained.h>

/// Extreme scales, the options that PyTorch lacks, and optimizers after a skipped first step.
namespace halfgrad::amp {
namespace {

TEST(GradScaler, DividesByAScaleThatIsNoPowerOfTwo) {
  for (const bool explicitly : {false, true}) {
    GradScaler scaler = started({.init_scale = 3});
    Trained trained({1, 7});
    if (explicitly) scaler.unscale_(trained.optimizer);
    scaler.step(trained.optimizer);
    const std::vector<float> gradient = trained.param.grad().to_vector<float>();
    EXPECT_EQ(gradient, (std::vector<float>{0.33333334f, 2.3333335f}));
    EXPECT_EQ(trained.param.to_vector<float>(), (std::vector<float>{0.6666666f, -1.3333335f}));
  }
}

TEST(GradScaler, SubnormalScaleHasAnInfiniteInverse) {
  for (const double scale : {0x1p-149, 0x1p-130}) {
    GradScaler scaler = started({.init_scale = scale});
    Trained trained({1, 0});
    EXPECT_FALSE(scaler.step(trained.optimizer).skipped());
    expect_same(trained.gradient(), {kInfinite, kNaN});
  }
}

TEST(GradScaler, CheckAfterUnscaleSkipsInfinityFromUnscaling) {
  for (const bool explicitly : {false, true}) {
    GradScaler scaler = started({.init_scale = 0x1p-130, .check_after_unscale = true});
    Trained trained({1, 0});
    if (explicitly) scaler.unscale_(trained.optimizer);
    EXPECT_TRUE(scaler.step(trained.optimizer).skipped());
    EXPECT_EQ(trained.value(), (Values{1, 1}));
  }
}

TEST(GradScaler, MinScaleStopsThePermanentOverflow) {
  GradScaler scaler = started({.init_scale = 4, .min_scale = 1});
  Trained trained({kInfinite});
  for (int k = 0; k < 10; ++k) {
    scaler.step(trained.optimizer);
    scaler.update();
  }
  EXPECT_EQ(scaler.get_scale(), 1);
  EXPECT_THROW(scaler.update(0.5), std::invalid_argument);
}

TEST(GradScaler, HysteresisToleratesASingleBadStep) {
  GradScaler scaler = started({.init_scale = 4, .hysteresis = 2});
  Trained trained({kInfinite});
  for (const double expected : {4, 2}) {
    EXPECT_TRUE(scaler.step(trained.optimizer).skipped());
    scaler.update();
    EXPECT_EQ(scaler.get_scale(), expected);
  }
}

TEST(GradScaler, CountsStepsGrowthsAndBackoffs) {
  GradScaler scaler({.init_scale = 4, .growth_interval = 2});
  EXPECT_EQ(scaler.counts().steps, 0);
  scaler.scale(filled({}, 1));
  Trained trained({1});
  for (const double gradient : {1.0, 1.0, kNaN, 1.0, kInfinite}) {
    trained.set({gradient});
    scaler.step(trained.optimizer);
    scaler.update();
  }
  const GradScalerCounts counts = scaler.counts();
  EXPECT_EQ(counts.steps, 3);
  EXPECT_EQ(counts.skipped_steps, 2);
  EXPECT_EQ(counts.growths, 1);
  EXPECT_EQ(counts.backoffs, 2);
}

// --- Skipped first steps, and Adam's count of updates ---

TEST(GradScaler, SkippedFirstStepLeavesNoMomentum) {
  GradScaler scaler = started({.init_scale = 1});
  Trained skipped({kInfinite}, kFloat, {.lr = 1, .momentum = 0.9});
  Trained plain({1}, kFloat, {.lr = 1, .momentum = 0.9});
  scaler.step(skipped.optimizer);
  scaler.update(1.0);
  for (int k = 0; k < 3; ++k) {
    skipped.set({1});
    scaler.step(skipped.optimizer);
    scaler.update(1.0);
    plain.optimizer.step();
  }
  EXPECT_EQ(skipped.value(), plain.value());
}

TEST(GradScaler, SkippedStepDoesNotAdvanceAdam) {
  GradScaler scaler = started({.init_scale = 1});
  Tensor a = filled({1}, 1).requires_grad_();
  Tensor b = filled({1}, 1).requires_grad_();
  optim::Adam with_skips({a}, {.lr = 0.1});
  optim::Adam plain({b}, {.lr = 0.1});
  b.set_grad(filled({1}, 1));
  for (const double gradient : {kNaN, 1.0, kInfinite, 1.0, kNaN}) {
    a.set_grad(filled({1}, gradient));
    if (!scaler.step(with_skips).skipped()) plain.step();
    scaler.update(1.0);
  }
  EXPECT_EQ(a.item(), b.item());
}

TEST(GradScaler, MomentumStartsWithAParametersFirstGradient) {
  GradScaler scaler = started({.init_scale = 1});
  Tensor a = filled({1}, 1).requires_grad_();
  Tensor b = filled({1}, 1).requires_grad_();
  optim::SGD optimizer({a, b}, {.lr = 1, .momentum = 0.5});
  a.set_grad(filled({1}, 1));
  scaler.step(optimizer);
  scaler.update();
  b.set_grad(filled({1}, 1));
  a.set_grad(filled({1}, 1));
  scaler.step(optimizer);
  EXPECT_EQ(a.item(), 1 - 1 - 1.5);
  EXPECT_EQ(b.item(), 0);
}

// Back-offs can reach a scale of zero, which no constructor accepts. Then a zero gradient turns the
// parameter into NaN, and the scale never recovers.
TEST(GradScaler, NeverRecoversFromAScaleOfZero) {
  const struct {
    Values gradient;
    bool skipped;
    Values value;
  } cases[] = {{{0, 0}, false, {kNaN, kNaN}}, {{kNaN, 0}, true, {1, 1}}};
  for (const auto& c : cases) {
    GradScaler scaler = started({.init_scale = 0x1p-149, .growth_interval = 1});
    Trained trained({kNaN, 0});
    scaler.step(trained.optimizer);
    scaler.update();
    ASSERT_EQ(scaler.get_scale(), 0);
    trained.set(c.gradient);
    EXPECT_EQ(scaler.step(trained.optimizer).skipped(), c.skipped);
    expect_same(trained.value(), c.value);
    scaler.update();
    EXPECT_EQ(scaler.get_scale(), 0);
  }
}

}  // namespace
}  // namespace halfgrad::amp
