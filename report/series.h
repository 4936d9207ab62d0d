#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <halfgrad/core/language.h>

namespace halfgrad::report {

/// Consecutive steps of a run in one row: means, and the state after the last of them.
struct StepRow {
  std::int64_t step = 0;       ///< the last step, counted from 0
  std::int64_t steps = 0;      ///< number of steps in the row
  std::int64_t nonfinite = 0;  ///< number of them whose loss was inf or NaN
  double loss = 0;             ///< mean of the finite losses; NaN if there is none
  double score = 0;            ///< mean of the scores; NaN without scores
  double scale = 1;            ///< loss scale of the last step
  std::int64_t timed = 0;      ///< number of steps that were timed: those not observed
  double seconds = 0;          ///< mean time of those; NaN if there is none
  std::int64_t bytes = 0;      ///< largest memory of live arrays at the end of a step
};

/// The rows of a run of any length in bounded memory: one row a step for the first kMost steps,
/// then one for every 2 steps, every 4, and so on.
class StepSeries {
 public:
  static constexpr std::size_t kMost = 160;

  /// Adds the row of the next step.
  void add(const StepRow& step);
  const std::vector<StepRow>& rows() const { return rows_; }
  /// Number of steps that were added.
  std::int64_t steps() const { return steps_; }

 private:
  std::vector<StepRow> rows_;
  std::int64_t steps_ = 0, steps_a_row_ = 1;
};

/// Every n-th item of a sequence in bounded memory. When it is full, drops every second item and
/// doubles n.
template <class T>
class Sampled {
 public:
  explicit Sampled(std::int64_t every, std::size_t most) : every_(every), most_(most) {}

  /// Returns whether the item at `index`, counted from 0, should be added.
  bool wants(std::int64_t index) const { return every_ > 0 && index % every_ == 0; }

  /// Adds an item that wants() accepted.
  void add(T item) {
    if (items_.size() == most_) {
      for (std::size_t i = 0; 2 * i < most_; ++i) items_[i] = std::move(items_[2 * i]);
      items_.resize((most_ + 1) / 2);
      every_ *= 2;
    }
    items_.push_back(std::move(item));
  }

  const std::vector<T>& items() const { return items_; }

 private:
  std::vector<T> items_;
  std::int64_t every_;
  std::size_t most_;
};

}  // namespace halfgrad::report
