#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include <halfgrad/core/array.h>

namespace halfgrad::amp {

/// Counts of the values of an array by their binary exponent: e for 2^e <= |x| < 2^(e+1).
class ExponentHistogram {
 public:
  /// Exponents of float32, subnormal values included. Those of float64 outside are counted at the
  /// nearest end.
  static constexpr int kFirst = -149, kLast = 127;

  /// Counts the elements of `array`, each divided by `divisor`, which must be positive. Copies an
  /// array on a GPU to the host, and waits. Throws std::invalid_argument unless the dtype is
  /// floating point.
  void add(const Array& array, double divisor = 1);
  void add(const ExponentHistogram& other);

  /// Number of elements with this exponent; 0 outside [kFirst, kLast].
  std::int64_t count(int exponent) const;
  /// Number of elements with first <= exponent < end.
  std::int64_t between(int first, int end) const;
  std::int64_t zeros() const { return zeros_; }
  std::int64_t infinities() const { return infinities_; }
  std::int64_t nans() const { return nans_; }
  std::int64_t nonfinite() const { return infinities_ + nans_; }
  /// Number of elements that are finite and not zero.
  std::int64_t nonzero() const { return between(kFirst, kLast + 1); }
  std::int64_t total() const { return zeros_ + nonfinite() + nonzero(); }
  /// The largest finite magnitude, 0 if there is none.
  double largest() const { return largest_; }
  /// The smallest magnitude that is not zero, infinity if there is none.
  double smallest() const { return smallest_; }

  bool operator==(const ExponentHistogram&) const = default;

 private:
  std::array<std::int64_t, kLast - kFirst + 1> counts_{};
  std::int64_t zeros_ = 0;
  std::int64_t infinities_ = 0;
  std::int64_t nans_ = 0;
  double largest_ = 0;
  double smallest_ = HUGE_VAL;
};

/// Exponents of float16: a smaller magnitude becomes zero (or 2^-24, above one half of it), and
/// values below 2^-14 are subnormal, with fewer than 11 bits.
inline constexpr int kHalfSmallestExponent = -24;
inline constexpr int kHalfNormalExponent = -14;
inline constexpr double kHalfLargest = 65504;

}  // namespace halfgrad::amp
