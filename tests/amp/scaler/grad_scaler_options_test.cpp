#include <stdexcept>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>
#include <halfgrad/tests/amp/training/trained.h>

/// Options that a GradScaler accepts and refuses.
namespace halfgrad::amp {
namespace {

TEST(GradScaler, HasPyTorchsDefaults) {
  const GradScaler scaler;
  EXPECT_EQ(scaler.get_scale(), 65536);
  EXPECT_EQ(scaler.get_growth_factor(), 2);
  EXPECT_EQ(scaler.get_backoff_factor(), 0.5);
  EXPECT_EQ(scaler.get_growth_interval(), 2000);
  EXPECT_EQ(scaler.get_growth_tracker(), 0);
  EXPECT_TRUE(scaler.is_enabled());
  static_assert(!std::is_copy_constructible_v<GradScaler>);
}

TEST(GradScaler, OptionsWithoutNamesHavePyTorchsOrder) {
  const GradScaler scaler({1024, 4, 0.25, 7, true});
  EXPECT_EQ(scaler.get_scale(), 1024);
  EXPECT_EQ(scaler.get_growth_factor(), 4);
  EXPECT_EQ(scaler.get_backoff_factor(), 0.25);
  EXPECT_EQ(scaler.get_growth_interval(), 7);
}

struct BadOptions {
  const char* names;
  GradScalerOptions options;
};
const BadOptions kBadOptions[] = {
    {"growth_factor", {.growth_factor = 1}},
    {"growth_factor", {.growth_factor = -2}},
    {"growth_factor", {.growth_factor = kNaN}},
    {"growth_factor", {.growth_factor = kInfinite}},
    {"backoff_factor", {.backoff_factor = 1}},
    {"backoff_factor", {.backoff_factor = 0}},
    {"backoff_factor", {.backoff_factor = -0.5}},
    {"backoff_factor", {.backoff_factor = kNaN}},
    {"growth_interval", {.growth_interval = 0}},
    {"growth_interval", {.growth_interval = -1}},
    {"init_scale", {.init_scale = 0}},
    {"init_scale", {.init_scale = -1}},
    {"init_scale", {.init_scale = kNaN}},
    {"init_scale", {.init_scale = kInfinite}},
    {"init_scale", {.init_scale = 1e39}},   // infinite in float32
    {"init_scale", {.init_scale = 1e-46}},  // zero in float32
    {"min_scale", {.min_scale = -1}},
    {"min_scale", {.min_scale = kNaN}},
    {"min_scale", {.init_scale = 1, .min_scale = 2}},
    {"max_scale", {.max_scale = 0}},
    {"max_scale", {.init_scale = 4, .max_scale = 2}},
    {"hysteresis", {.hysteresis = 0}},
};

// PyTorch checks two of these. Here NaN, zero and negative values are all refused.
TEST(GradScaler, RejectsBadOptionsByName) {
  for (const BadOptions& bad : kBadOptions) {
    const std::string text = message_of<std::invalid_argument>([&] { GradScaler{bad.options}; });
    EXPECT_NE(text.find(bad.names), std::string::npos) << text;
    GradScalerOptions disabled = bad.options;
    disabled.enabled = false;
    EXPECT_NO_THROW(GradScaler{disabled});
  }
}

TEST(GradScaler, LimitsMayBeTheScaleItself) {
  GradScaler scaler({.init_scale = 4, .min_scale = 4, .max_scale = 4});
  EXPECT_EQ(scaler.scale(filled({}, 1)).item(), 4);
  EXPECT_NO_THROW(scaler.update(4.0));
}

TEST(GradScaler, SettersValidateToo) {
  GradScaler scaler;
  scaler.set_growth_factor(3);
  scaler.set_backoff_factor(0.25);
  scaler.set_growth_interval(7);
  EXPECT_THROW(scaler.set_growth_factor(1), std::invalid_argument);
  EXPECT_THROW(scaler.set_backoff_factor(1), std::invalid_argument);
  EXPECT_THROW(scaler.set_growth_interval(0), std::invalid_argument);
  EXPECT_EQ(scaler.get_growth_factor(), 3);
  EXPECT_EQ(scaler.get_backoff_factor(), 0.25);
  EXPECT_EQ(scaler.get_growth_interval(), 7);
}

}  // namespace
}  // namespace halfgrad::amp
