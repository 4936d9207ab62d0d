#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/tests/amp/training/trained.h>
#include <halfgrad/tests/devices.h>

/// GradScaler::update, with several optimizers and with a new scale.
namespace halfgrad::amp {
namespace {

TEST(GradScaler, OneBadOptimizerBacksOffOnceForAll) {
  for (int bad = 0; bad < 3; ++bad) {
    GradScaler scaler = started();
    Trained first({bad >= 1 ? kInfinite : 4});
    Trained second({bad >= 2 ? kInfinite : 4});
    scaler.unscale_(second.optimizer);
    EXPECT_EQ(scaler.step(first.optimizer).skipped(), bad >= 1);
    EXPECT_EQ(scaler.step(second.optimizer).skipped(), bad >= 2);
    scaler.update();
    EXPECT_EQ(scaler.get_scale(), bad == 0 ? 4 : 2);
    EXPECT_EQ(first.value(), Values{bad >= 1 ? 1.0 : 0.0});
    EXPECT_EQ(second.value(), Values{bad >= 2 ? 1.0 : 0.0});
  }
}

TEST(GradScaler, UncheckedOptimizersDoNotAffectTheScale) {
  GradScaler scaler = started();
  Trained stepped({4});
  Trained ready({kInfinite});
  scaler.step(stepped.optimizer);
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 4);
  EXPECT_EQ(scaler.get_growth_tracker(), 1);
}

// --- set_scale ---

TEST(GradScaler, SetScaleLastsUntilUpdate) {
  GradScaler scaler({.init_scale = 4, .growth_interval = 1});
  EXPECT_THROW(scaler.set_scale(64), std::runtime_error);  // no loss was scaled
  scaler.scale(filled({}, 1));
  scaler.set_scale(64);
  EXPECT_EQ(scaler.get_scale(), 64);
  EXPECT_EQ(scaler.scale(filled({}, 1)).item(), 64);
  Trained trained({128});
  scaler.unscale_(trained.optimizer);
  EXPECT_EQ(trained.param.grad().item(), 2);
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 8);  // from 4, the scale that the scaler made last
}

// --- update(new_scale) ---

TEST(GradScaler, UpdateSetsAGivenScale) {
  GradScaler scaler = started();
  Trained trained({4});
  scaler.step(trained.optimizer);
  scaler.update();
  scaler.update(3.0);
  EXPECT_EQ(scaler.get_scale(), 3);
  EXPECT_EQ(scaler.get_growth_tracker(), 1);  // the update keeps it
  scaler.update(16);
  EXPECT_EQ(scaler.get_scale(), 16);
  for (const double bad : {0.0, -1.0, kNaN, kInfinite, 1e39}) {
    EXPECT_THROW(scaler.update(bad), std::invalid_argument) << bad;
    EXPECT_EQ(scaler.get_scale(), 16);
  }
}

TEST(GradScaler, UpdateSetsTheScaleFromATensor) {
  GradScaler scaler = started();
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16, kLong, kInt}) {
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{1, 1}}) {  // PyTorch takes shape {} only
      const Tensor new_scale = filled(shape, 32, dtype);
      scaler.update(new_scale);
      new_scale.array().fill_(5);  // copied
      EXPECT_EQ(scaler.get_scale(), 32);
      scaler.update(4.0);
    }
  }
  std::vector<Tensor> refused = {filled({2}, 8), filled({}, 8).requires_grad_(), filled({0}, 8),
                                 Tensor()};
  if (default_device_type() == kCPU) {  // values on a GPU are not read
    for (const double scale : {0.0, -1.0, kNaN}) refused.push_back(filled({}, scale));
  }
  for (const Tensor& bad : refused) {
    const std::string text = message_of<std::invalid_argument>([&] { scaler.update(bad); });
    EXPECT_EQ(text.find("update: expected"), 0) << text;
    EXPECT_EQ(scaler.get_scale(), 4);
  }
}

}  // namespace
}  // namespace halfgrad::amp
