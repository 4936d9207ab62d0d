#include <stdexcept>

#include <gtest/gtest.h>

#include <halfgrad/tests/async/async_training.h>

namespace halfgrad::amp {
namespace {

using optim::Optimizer;

TEST(AsyncGradScaler, StateWhileAnUpdateIsPending) {
  AsyncTraining first({.init_scale = 64, .growth_interval = 2});
  const auto iterate = [](AsyncTraining& training, int k) {
    const double scale = training.scaler.get_scale();
    training.backward(k % 4 == 1 ? kInfinite : 1);
    training.optimizer.step([&](Optimizer& o) { training.scaler.step(o); });
    training.scaler.update();
    return scale;
  };
  for (int k = 0; k < 4; ++k) iterate(first, k);
  const GradScalerState state = first.scaler.state_dict();
  EXPECT_NE(state.at("scale"), state.at("_next_scale"));

  AsyncTraining second;
  second.scaler.load_state_dict(state);
  second.optimizer.load_state_dict(first.optimizer.state_dict());
  EXPECT_EQ(second.scaler.state_dict(), state);
  for (int k = 4; k < 20; ++k) ASSERT_EQ(iterate(second, k), iterate(first, k)) << k;
  first.optimizer.synchronize();
  second.optimizer.synchronize();
  EXPECT_EQ(second.value(), first.value());
}

TEST(AsyncGradScaler, LoadsTheStateOfAGradScaler) {
  GradScaler synchronous = started({.init_scale = 32, .growth_interval = 9});
  AsyncTraining training;
  training.scaler.load_state_dict(synchronous.state_dict());
  EXPECT_EQ(training.scaler.get_scale(), 32);
  EXPECT_EQ(training.scaler.get_growth_interval(), 9);
  EXPECT_EQ(training.scaler.state_dict().at("_next_scale"), 32);
  GradScalerState bad = training.scaler.state_dict();
  bad["_next_scale"] = kNaN;
  bad["scale"] = 8;
  EXPECT_THROW(training.scaler.load_state_dict(bad), std::invalid_argument);
  EXPECT_EQ(training.scaler.get_scale(), 32);
}

}  // namespace
}  // namespace halfgrad::amp
