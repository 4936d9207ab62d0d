#include <halfgrad/programs/running_median.h>

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace programs {
namespace {

TEST(RunningMedian, IsExactForFewValues) {
  RunningMedian median;
  EXPECT_TRUE(std::isnan(median.value()));
  for (const double value : {5.0, 1.0, 4.0, 2.0, 3.0}) median.add(value);
  EXPECT_EQ(median.value(), 3);
  EXPECT_EQ(median.count(), 5);
}

TEST(RunningMedian, KeepsABoundedNumberOfValues) {
  RunningMedian median;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0, 2);
  for (int i = 0; i < 1'000'000; ++i) median.add(uniform(random));
  EXPECT_EQ(median.count(), 1'000'000);
  EXPECT_LE(median.kept(), RunningMedian::kMost);
  EXPECT_GE(median.kept(), RunningMedian::kMost / 2 - 100);
  // The median of 2000 uniform values has a standard deviation of 1 / sqrt(2000).
  EXPECT_NEAR(median.value(), 1, 5 / std::sqrt(2000.0));
}

TEST(RunningMedian, KeepsEveryNthValue) {
  RunningMedian median;
  const int count = 3 * static_cast<int>(RunningMedian::kMost);
  for (int i = 0; i < count; ++i) median.add(i);
  EXPECT_NEAR(median.value(), count / 2, 4);
}

}  // namespace
}  // namespace programs
