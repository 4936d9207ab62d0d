#include <halfgrad/report/series.h>

#include <algorithm>
#include <cmath>

namespace halfgrad::report {
namespace {

/// Mean of two means; one that is NaN counts as no value.
double mean_of(double a, double count_a, double b, double count_b) {
  if (std::isnan(a) || count_a == 0) return b;
  if (std::isnan(b) || count_b == 0) return a;
  return (a * count_a + b * count_b) / (count_a + count_b);
}

StepRow joined(const StepRow& first, const StepRow& second) {
  const auto steps = [](const StepRow& row) { return static_cast<double>(row.steps); };
  const auto finite = [](const StepRow& row) {
    return static_cast<double>(row.steps - row.nonfinite);
  };
  return {.step = second.step,
          .steps = first.steps + second.steps,
          .nonfinite = first.nonfinite + second.nonfinite,
          .loss = mean_of(first.loss, finite(first), second.loss, finite(second)),
          .score = mean_of(first.score, steps(first), second.score, steps(second)),
          .scale = second.scale,
          .timed = first.timed + second.timed,
          .seconds = mean_of(first.seconds, static_cast<double>(first.timed), second.seconds,
                             static_cast<double>(second.timed)),
          .bytes = std::max(first.bytes, second.bytes)};
}

}  // namespace

void StepSeries::add(const StepRow& step) {
  if (!rows_.empty() && rows_.back().steps < steps_a_row_) {
    rows_.back() = joined(rows_.back(), step);
  } else {
    if (rows_.size() == kMost) {
      for (std::size_t i = 0; i < kMost / 2; ++i) rows_[i] = joined(rows_[2 * i], rows_[2 * i + 1]);
      rows_.resize(kMost / 2);
      steps_a_row_ *= 2;
    }
    rows_.push_back(step);
  }
  ++steps_;
}

}  // namespace halfgrad::report
