#include <halfgrad/report/series.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace halfgrad::report {
namespace {

StepRow row_of(std::int64_t step, double loss) {
  return {.step = step,
          .steps = 1,
          .loss = loss,
          .score = loss,
          .scale = 8,
          .timed = 1,
          .seconds = loss,
          .bytes = step};
}

TEST(StepSeries, KeepsEveryStepOfAShortRun) {
  StepSeries series;
  for (std::int64_t step = 0; step < 100; ++step) series.add(row_of(step, 0.5));
  EXPECT_EQ(series.rows().size(), 100U);
  EXPECT_EQ(series.rows()[42].step, 42);
}

TEST(StepSeries, RowsOfALongRunAreMeansOfAllItsSteps) {
  constexpr std::int64_t kSteps = 100'001;
  StepSeries series;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    series.add(row_of(step, static_cast<double>(step)));
  }
  EXPECT_EQ(series.steps(), kSteps);
  EXPECT_LE(series.rows().size(), StepSeries::kMost);
  EXPECT_GE(series.rows().size(), StepSeries::kMost / 2);
  double sum = 0;
  std::int64_t steps = 0;
  for (const StepRow& row : series.rows()) {
    steps += row.steps;
    sum += row.loss * static_cast<double>(row.steps);
    EXPECT_EQ(row.step, steps - 1);
    EXPECT_NEAR(row.loss, static_cast<double>(row.step) - static_cast<double>(row.steps - 1) / 2,
                1e-6);
    EXPECT_EQ(row.bytes, row.step);  // the largest
  }
  EXPECT_EQ(steps, kSteps);
  EXPECT_NEAR(sum / kSteps, (kSteps - 1) / 2.0, 1e-6);
}

TEST(StepSeries, ALossThatIsNotFiniteIsCountedAndNotAveraged) {
  StepSeries series;
  constexpr auto kSteps = static_cast<std::int64_t>(4 * StepSeries::kMost);
  for (std::int64_t step = 0; step < kSteps; ++step) {
    StepRow row = row_of(step, step % 4 == 0 ? NAN : 3);
    row.nonfinite = step % 4 == 0;
    series.add(row);
  }
  std::int64_t nonfinite = 0;
  for (const StepRow& row : series.rows()) {
    nonfinite += row.nonfinite;
    EXPECT_DOUBLE_EQ(row.loss, 3);
  }
  EXPECT_EQ(nonfinite, kSteps / 4);
}

TEST(Sampled, KeepsEvenlySpacedItemsFromTheFirst) {
  Sampled<std::int64_t> sampled(10, 8);
  for (std::int64_t i = 0; i < 1000; ++i) {
    if (sampled.wants(i)) sampled.add(i);
  }
  const std::vector<std::int64_t>& items = sampled.items();
  ASSERT_GE(items.size(), 4U);
  EXPECT_LE(items.size(), 8U);
  for (std::size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(items[i], static_cast<std::int64_t>(i) * items[1]);
  }
  EXPECT_GT(items.back() + items[1], 999);
}

TEST(Sampled, AnIntervalOfZeroWantsNothing) { EXPECT_FALSE(Sampled<int>(0, 8).wants(0)); }

}  // namespace
}  // namespace halfgrad::report
