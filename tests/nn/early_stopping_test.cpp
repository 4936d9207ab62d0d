#include <halfgrad/nn/early_stopping.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad::nn {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Returns the epoch that stops a training with these metrics, or -1.
int stop(EarlyStoppingOptions options, const std::vector<double>& metrics) {
  EarlyStopping early_stopping(Linear(1, 1), options);
  for (std::size_t epoch = 0; epoch < metrics.size(); ++epoch) {
    if (early_stopping.step(metrics[epoch])) return static_cast<int>(epoch);
  }
  return -1;
}

TEST(EarlyStopping, StopsAfterPatienceEpochsWithoutImprovement) {
  EXPECT_EQ(stop({.patience = 2}, {5, 4, 4, 3, 3, 3.5, 1}), 5);
  EXPECT_EQ(stop({.patience = 1}, {5, 4, 3, 3}), 3);
  EXPECT_EQ(stop({.patience = 3}, {5, 6, 7, 4, 5, 5}), -1);
}

TEST(EarlyStopping, SmallChangesAreNoImprovement) {
  EXPECT_EQ(stop({.patience = 2, .min_delta = 0.5}, {5, 4.75, 4.5}), 2);
  EXPECT_EQ(stop({.patience = 2, .min_delta = 0.5}, {5, 4.75, 4.25, 4, 4}), 4);
}

TEST(EarlyStopping, MaximizesAnAccuracy) {
  EXPECT_EQ(stop({.patience = 2, .maximize = true}, {0.5, 0.75, 0.7, 0.75}), 3);
}

TEST(EarlyStopping, NanIsNoImprovement) {
  EXPECT_EQ(stop({.patience = 2}, {5, kNan, kNan}), 2);
  EXPECT_EQ(stop({.patience = 2}, {kNan, kNan}), 1);
  EXPECT_EQ(stop({.patience = 2}, {kNan, 5, 6, 4}), -1);
}

TEST(EarlyStopping, RestoresWeightsAndBuffersOfTheBestEpoch) {
  const Linear linear(2, 1);
  Standardize scale(2);
  scale.fit(tensor({{1.0, 2.0}, {3.0, 6.0}}));
  const Sequential model(scale, linear);
  EarlyStopping early_stopping(model, {.patience = 5});
  const NoGradGuard no_grad;
  const double metrics[] = {3, 1, 2};
  for (int epoch = 0; epoch < 3; ++epoch) {
    linear.weight.fill_(epoch);
    scale.mean.fill_(10 + epoch);
    EXPECT_FALSE(early_stopping.step(metrics[epoch]));
  }
  EXPECT_EQ(early_stopping.best(), 1);
  EXPECT_EQ(early_stopping.best_epoch(), 1);
  early_stopping.restore_best();
  EXPECT_EQ(linear.weight.to_vector<float>(), (std::vector<float>{1, 1}));
  EXPECT_EQ(scale.mean.to_vector<float>(), (std::vector<float>{11, 11}));
}

TEST(EarlyStopping, RefusesWrongOptionsAndRestoringNothing) {
  EXPECT_EQ(message_of<std::invalid_argument>([] { EarlyStopping(Linear(1, 1), {.patience = 0}); }),
            "EarlyStopping: expected patience > 0, got 0");
  EXPECT_EQ(
      message_of<std::invalid_argument>([] { EarlyStopping(Linear(1, 1), {.min_delta = -0.5}); }),
      "EarlyStopping: expected min_delta >= 0, got -0.5");
  EXPECT_THROW(EarlyStopping(Linear(1, 1), {.min_delta = kNan}), std::invalid_argument);
  EarlyStopping early_stopping(Linear(1, 1));
  EXPECT_FALSE(early_stopping.step(kNan));
  EXPECT_EQ(message_of<std::runtime_error>([&] { early_stopping.restore_best(); }),
            "EarlyStopping: expected an epoch whose metric is not NaN, got none in 1 epochs");
}

}  // namespace
}  // namespace halfgrad::nn
