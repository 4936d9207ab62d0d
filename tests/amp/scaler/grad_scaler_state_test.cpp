#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/tests/amp/training/trained.h>

/// A disabled scaler, and scalers saved and loaded.
namespace halfgrad::amp {
namespace {

TEST(GradScaler, DisabledIsAPassThrough) {
  GradScaler scaler({.enabled = false});
  Trained trained({2});
  const Tensor loss = filled({}, 1, kHalf);
  EXPECT_TRUE(scaler.scale(loss).is_same(loss));
  EXPECT_TRUE(scaler.scale(std::vector{loss})[0].is_same(loss));
  EXPECT_FALSE(scaler.scale(Tensor()).defined());
  EXPECT_NO_THROW(scaler.unscale_(trained.optimizer));
  EXPECT_NO_THROW(scaler.unscale_(trained.optimizer));
  EXPECT_FALSE(scaler.step(trained.optimizer).skipped());
  EXPECT_FALSE(scaler.step(trained.optimizer).skipped());
  EXPECT_EQ(trained.value(), Values{-3});
  EXPECT_NO_THROW(scaler.update());
  EXPECT_NO_THROW(scaler.update(0.0));
  EXPECT_EQ(scaler.get_scale(), 1);
  EXPECT_EQ(scaler.get_growth_tracker(), 0);
  EXPECT_EQ(scaler.counts().steps, 0);
  EXPECT_FALSE(scaler.is_enabled());
  EXPECT_TRUE(scaler.state_dict().empty());
  EXPECT_NO_THROW(scaler.load_state_dict({}));
  EXPECT_NO_THROW(scaler.load_state_dict({{"scale", -1}}));
  EXPECT_NO_THROW(scaler.set_growth_factor(0.5));
}

TEST(GradScaler, ClosuresNeedADisabledScaler) {
  Trained trained({2});
  const auto closure = [&] {
    trained.set({1});
    return filled({}, 7);
  };
  GradScaler disabled({.enabled = false});
  const StepOutcome outcome = disabled.step(trained.optimizer, closure);
  ASSERT_TRUE(outcome.loss().has_value());
  EXPECT_EQ(outcome.loss()->item(), 7);
  EXPECT_EQ(trained.value(), Values{0});
  GradScaler enabled;  // refuses the closure before it looks for a scale
  const std::string text =
      message_of<std::runtime_error>([&] { enabled.step(trained.optimizer, closure); });
  EXPECT_NE(text.find("closure"), std::string::npos) << text;
  EXPECT_EQ(trained.value(), Values{0});
}

// --- State ---

TEST(GradScaler, StateHasPyTorchsKeys) {
  GradScaler scaler = started({.init_scale = 8, .growth_factor = 3, .growth_interval = 10});
  Trained trained({1});
  scaler.step(trained.optimizer);
  scaler.update();
  const GradScalerState expected{{"scale", 8},
                                 {"growth_factor", 3},
                                 {"backoff_factor", 0.5},
                                 {"growth_interval", 10},
                                 {"_growth_tracker", 1}};
  EXPECT_EQ(scaler.state_dict(), expected);
}

TEST(GradScaler, LoadsBeforeAndAfterTheFirstLoss) {
  const GradScalerState state{
      {"scale", 32},          {"growth_factor", 4},   {"backoff_factor", 0.25},
      {"growth_interval", 3}, {"_growth_tracker", 2}, {"unknown", 1}};
  for (const bool live : {false, true}) {
    GradScaler scaler;
    if (live) scaler.scale(filled({}, 1));
    scaler.load_state_dict(state);
    GradScalerState known = state;
    known.erase("unknown");
    EXPECT_EQ(scaler.state_dict(), known);
    EXPECT_EQ(scaler.scale(filled({}, 1)).item(), 32);
    Trained trained({32});
    scaler.step(trained.optimizer);
    EXPECT_EQ(trained.value(), Values{0});
    scaler.update();
    EXPECT_EQ(scaler.get_scale(), 128);  // the third good step
  }
}

TEST(GradScaler, HysteresisIsPartOfTheState) {
  GradScaler scaler = started({.init_scale = 4, .hysteresis = 2});
  Trained trained({kInfinite});
  scaler.step(trained.optimizer);
  scaler.update();
  for (const bool live : {false, true}) {
    GradScaler resumed({.init_scale = 4, .hysteresis = 2});
    if (live) resumed.scale(filled({}, 1));
    resumed.load_state_dict(scaler.state_dict());
    resumed.scale(filled({}, 1));
    resumed.step(trained.optimizer);
    resumed.update();
    EXPECT_EQ(resumed.get_scale(), 2);
  }
}

TEST(GradScaler, LoadingKeepsOptionsThatAStateLacks) {
  const GradScalerOptions options{.init_scale = 8, .min_scale = 4, .max_scale = 16};
  GradScaler scaler = started(options);
  scaler.load_state_dict(started(options).state_dict());
  Trained trained({kInfinite});
  for (int step = 0; step < 3; ++step) {
    scaler.step(trained.optimizer);
    scaler.update();
  }
  EXPECT_EQ(scaler.get_scale(), 4);
  EXPECT_THROW(scaler.update(32.0), std::invalid_argument);
}

TEST(GradScaler, StateHasTheNextScaleOfALateRule) {
  const GradScalerOptions options{.init_scale = 8, .rule = {.one_step_late = true}};
  GradScaler scaler = started(options);
  Trained trained({kInfinite});
  scaler.step(trained.optimizer);
  scaler.update();
  for (const bool live : {false, true}) {
    GradScaler resumed = live ? started(options) : GradScaler(options);
    resumed.load_state_dict(scaler.state_dict());
    resumed.scale(filled({}, 1));
    EXPECT_EQ(resumed.get_scale(), 8);
    trained.set({8});
    resumed.step(trained.optimizer);
    resumed.update();
    EXPECT_EQ(resumed.get_scale(), 4);
  }
}

/// The state after an iteration with this gradient.
GradScaler after(double gradient, const GradScalerOptions& options) {
  GradScaler scaler = started(options);
  Trained trained({gradient});
  scaler.step(trained.optimizer);
  scaler.update();
  return scaler;
}

TEST(GradScaler, EveryScaleThatTheRuleReachesCanBeLoaded) {
  const struct {
    double gradient;
    GradScalerOptions options;
    double scale;
  } cases[] = {
      {1,
       {.init_scale = 0x1p127, .growth_interval = 1, .rule = {.grows_to_infinity = true}},
       kInfinite},
      {kInfinite, {.init_scale = 0x1p-149, .growth_interval = 1}, 0},
      {1, {.init_scale = 4, .max_scale = 5, .rule = {.growth = ScaleRule::Growth::by_two}}, 6},
      {1,
       {.init_scale = 4,
        .growth_interval = 4,
        .max_scale = 5,
        .rule = {.growth = ScaleRule::Growth::by_two}},
       8},
  };
  for (const auto& c : cases) {
    const GradScaler scaler = after(c.gradient, c.options);
    ASSERT_EQ(scaler.get_scale(), c.scale);
    for (const bool live : {false, true}) {
      GradScaler resumed = live ? started(c.options) : GradScaler(c.options);
      resumed.load_state_dict(scaler.state_dict());
      EXPECT_EQ(resumed.get_scale(), c.scale);
      EXPECT_EQ(resumed.state_dict(), scaler.state_dict());
      EXPECT_NO_THROW(resumed.set_growth_factor(3));
    }
  }
  const GradScalerState endless = after(1, cases[0].options).state_dict();
  const GradScalerState vanished = after(kInfinite, cases[1].options).state_dict();
  EXPECT_THROW(started().load_state_dict(endless), std::invalid_argument);
  EXPECT_THROW(started({.init_scale = 4, .min_scale = 1}).load_state_dict(vanished),
               std::invalid_argument);
}

TEST(GradScaler, MissingKeysAreAllNamedFirst) {
  GradScaler scaler = started();
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              scaler.load_state_dict({{"growth_factor", 2}, {"_growth_tracker", 0.5}});
            }),
            "load_state_dict: expected PyTorch's keys, got none for scale, backoff_factor, "
            "growth_interval");
}

TEST(GradScaler, BadStatesChangeNothing) {
  const GradScalerState good{{"scale", 32},
                             {"growth_factor", 4},
                             {"backoff_factor", 0.25},
                             {"growth_interval", 3},
                             {"_growth_tracker", 2}};
  GradScaler scaler = started();
  const GradScalerState before = scaler.state_dict();
  for (const auto& [key, value] : good) {
    GradScalerState partial = good;
    partial.erase(key);
    const std::string text =
        message_of<std::invalid_argument>([&] { scaler.load_state_dict(partial); });
    EXPECT_NE(text.find(key), std::string::npos) << text;
    for (const double bad : {kNaN, -1.0, kInfinite}) {
      GradScalerState wrong = good;
      wrong[key] = bad;
      EXPECT_THROW(scaler.load_state_dict(wrong), std::invalid_argument) << key << " " << bad;
    }
    EXPECT_EQ(scaler.state_dict(), before);
  }
  GradScalerState fractional = good;
  fractional["growth_interval"] = 2.5;
  EXPECT_THROW(scaler.load_state_dict(fractional), std::invalid_argument);
  EXPECT_THROW(scaler.load_state_dict({}), std::runtime_error);
  EXPECT_EQ(scaler.state_dict(), before);
}

}  // namespace
}  // namespace halfgrad::amp
