#include <future>

#include <gtest/gtest.h>

#include <halfgrad/tests/async/async_training.h>

/// The factors of an AsyncGradScaler, read and set on either thread.
namespace halfgrad::amp {
namespace {

using optim::Optimizer;

// A step whose function waits on the update thread until the test lets it continue.
struct HeldStep {
  explicit HeldStep(optim::AsyncOptimizer& optimizer) {
    optimizer.step([gate = go_on.get_future().share()](Optimizer&) { gate.wait(); });
  }
  std::promise<void> go_on;
};

TEST(AsyncFactors, AreReadStaleOrUpToDate) {
  AsyncTraining training;
  AsyncGradScaler& scaler = training.scaler;
  HeldStep held(training.optimizer);
  scaler.set_growth_factor(4);
  scaler.set_backoff_factor(0.25);
  scaler.set_growth_interval(7);
  EXPECT_EQ(scaler.get_growth_factor(), 2);
  EXPECT_EQ(scaler.get_backoff_factor(), 0.5);
  EXPECT_EQ(scaler.get_growth_interval(), 2000);
  held.go_on.set_value();
  EXPECT_EQ(scaler.get_growth_factor(/*up_to_date=*/true), 4);
  EXPECT_EQ(scaler.get_backoff_factor(true), 0.25);
  EXPECT_EQ(scaler.get_growth_interval(true), 7);
}

TEST(AsyncFactors, TakeEffectAtOnceInAStepFunction) {
  AsyncTraining training;
  AsyncGradScaler& scaler = training.scaler;
  std::vector<double> seen;
  training.optimizer.step([&](Optimizer&) {
    scaler.set_growth_factor(8);
    seen = {scaler.get_growth_factor(), scaler.get_growth_factor(true)};
  });
  EXPECT_EQ(scaler.get_growth_factor(true), 8);
  EXPECT_EQ(seen, (Values{8, 8}));
}

TEST(AsyncFactors, TakeEffectInUpdatesLaunchedLater) {
  AsyncTraining training({.init_scale = 4, .growth_interval = 1});
  training.backward();
  HeldStep held(training.optimizer);
  EXPECT_THROW(training.scaler.set_growth_factor(1), std::invalid_argument);
  EXPECT_THROW(training.scaler.set_backoff_factor(kNaN), std::invalid_argument);
  EXPECT_THROW(training.scaler.set_growth_interval(0), std::invalid_argument);
  held.go_on.set_value();
  for (const double growth_factor : {2.0, 4.0}) {
    training.scaler.set_growth_factor(growth_factor);
    training.backward();
    training.step(/*is_async=*/false);
  }
  EXPECT_EQ(training.scaler.get_scale(), 4 * 2 * 4);
}

}  // namespace
}  // namespace halfgrad::amp
