#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace programs {

/// The median of a sequence of any length, in 32 KiB of memory: the exact one of up to 4096 values,
/// then that of every 2nd value, every 4th, and so on.
class RunningMedian {
 public:
  void add(double value) {
    if (count_++ % stride_ != 0) return;
    if (kept_.size() == kMost) {
      for (std::size_t i = 0; i < kMost / 2; ++i) kept_[i] = kept_[2 * i];
      kept_.resize(kMost / 2);
      stride_ *= 2;
      if ((count_ - 1) % stride_ != 0) return;
    }
    kept_.push_back(value);
  }

  std::int64_t count() const { return count_; }
  std::size_t kept() const { return kept_.size(); }

  /// Returns NaN for an empty sequence.
  double value() const {
    if (kept_.empty()) return std::numeric_limits<double>::quiet_NaN();
    std::vector<double> values = kept_;
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

  static constexpr std::size_t kMost = 4096;

 private:
  std::vector<double> kept_;  // value 0, stride_, 2 * stride_ ...
  std::int64_t count_ = 0, stride_ = 1;
};

}  // namespace programs
