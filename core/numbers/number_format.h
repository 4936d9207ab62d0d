#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include <halfgrad/core/language.h>

/// Binary floating-point formats of up to 32 bits: decode() gives the value of a bit pattern,
/// encode() the pattern of a value, rounded as its options say. Both are for tests of conversions
/// and for lessons; dtype.h has the fast conversions.
///
/// IEEE 754-2019 section 3 defines fp16 and fp32; "FP8 Formats for Deep Learning" (Micikevicius et
/// al., 2022) and the OCP 8-bit Floating Point Specification define e4m3fn and e5m2.
namespace halfgrad {

struct NumberFormat {
  std::string_view name;
  int exponent_bits;
  int fraction_bits;
  /// True if the largest exponent means infinity (fraction 0) and NaN (any other fraction). If
  /// false, the largest exponent has finite values, and the only NaN has all bits set.
  bool has_infinity = true;

  constexpr int bits() const { return 1 + exponent_bits + fraction_bits; }
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  /// The exponent of the smallest normal number.
  constexpr int min_exponent() const { return 1 - bias(); }
  constexpr std::uint32_t sign_bit() const { return std::uint32_t{1} << (bits() - 1); }
  /// The magnitude after max_finite: infinity, or NaN in a format without infinity.
  constexpr std::uint32_t overflow() const {
    const std::uint32_t ones = sign_bit() - 1;
    return has_infinity ? ones >> fraction_bits << fraction_bits : ones;
  }
  constexpr std::uint32_t max_finite() const { return overflow() - 1; }
  /// The quiet NaN with payload 0.
  constexpr std::uint32_t nan() const {
    return has_infinity ? overflow() | std::uint32_t{1} << (fraction_bits - 1) : overflow();
  }
  /// Half the distance from 1 to the next larger value, as a power of two.
  constexpr int roundoff_exponent() const { return -fraction_bits - 1; }
};

inline constexpr NumberFormat kFp32{"float32", 8, 23};  // names as in PyTorch
inline constexpr NumberFormat kFp16{"float16", 5, 10};
inline constexpr NumberFormat kBf16{"bfloat16", 8, 7};
inline constexpr NumberFormat kFp8E4M3Fn{"float8_e4m3fn", 4, 3, false};
inline constexpr NumberFormat kFp8E5M2{"float8_e5m2", 5, 2};

/// Returns the exact value of a bit pattern.
inline double decode(std::uint32_t bits, const NumberFormat& format) {
  const std::uint32_t magnitude = bits & (format.sign_bit() - 1);
  const double sign = (bits & format.sign_bit()) != 0 ? -1 : 1;
  if (magnitude >= format.overflow()) {
    const bool infinite = format.has_infinity && magnitude == format.overflow();
    return std::copysign(infinite ? std::numeric_limits<double>::infinity()
                                  : std::numeric_limits<double>::quiet_NaN(),
                         sign);
  }
  const std::uint32_t hidden = std::uint32_t{1} << format.fraction_bits;
  const auto exponent = static_cast<int>(magnitude >> format.fraction_bits);
  const std::uint32_t fraction = magnitude & (hidden - 1);
  const std::uint32_t significand = exponent == 0 ? fraction : fraction | hidden;
  const int quantum =
      format.min_exponent() - format.fraction_bits + (exponent > 0 ? exponent - 1 : 0);
  return sign * std::ldexp(significand, quantum);
}

enum class Rounding : std::uint8_t {
  nearest_even,
  toward_zero,
  stochastic,  ///< away from zero, with the discarded fraction as the probability
};

struct EncodeOptions {
  Rounding rounding = Rounding::nearest_even;
  /// Turns overflow, infinity included, into the largest finite value, as NVIDIA's `satfinite`
  /// does. Otherwise overflow gives infinity, or NaN in a format without infinity; with toward_zero
  /// a finite value stays finite.
  bool saturate = false;
  /// Random bits for stochastic rounding, uniform on [0, 2^64). Probabilities are exact for values
  /// of at least 2^-12 times the smallest subnormal, and within 2^-64 below.
  std::uint64_t random_bits = 0;
};

namespace detail {

/// Returns significand / 2^shift, rounded to an integer.
inline std::uint64_t shifted(std::uint64_t significand, int shift, const EncodeOptions& options) {
  if (shift <= 0) return significand << -shift;
  const std::uint64_t kept = shift < 64 ? significand >> shift : 0;
  const std::uint64_t rest = shift < 64 ? significand - (kept << shift) : significand;
  switch (options.rounding) {
    case Rounding::nearest_even: {
      if (shift >= 64) return kept;
      const std::uint64_t half = std::uint64_t{1} << (shift - 1);
      return kept + (rest > half || (rest == half && kept % 2 == 1) ? 1 : 0);
    }
    case Rounding::toward_zero:
      return kept;
    case Rounding::stochastic: {
      // A fraction rest / 2^shift of all words is below the threshold.
      const std::uint64_t threshold = shift < 64    ? rest << (64 - shift)
                                      : shift < 128 ? rest >> (shift - 64)
                                                    : 0;
      return kept + (options.random_bits < threshold ? 1 : 0);
    }
  }
  return kept;
}

}  // namespace detail

/// Returns the bit pattern of x rounded to the format. Overflow means that x, rounded with an
/// unbounded exponent, exceeds max_finite. A NaN keeps its sign and loses its payload.
inline std::uint32_t encode(double x, const NumberFormat& format,
                            const EncodeOptions& options = {}) {
  const std::uint32_t sign = std::signbit(x) ? format.sign_bit() : 0;
  if (std::isnan(x)) return sign | format.nan();
  const std::uint32_t largest = options.saturate ? format.max_finite() : format.overflow();
  if (std::isinf(x)) return sign | largest;
  if (x == 0) return sign;

  int exponent = 0;
  const auto significand =
      static_cast<std::uint64_t>(std::ldexp(std::frexp(std::fabs(x), &exponent), 53));
  exponent -= 1;  // 2^exponent <= |x|
  const int steps_above_smallest = std::max(exponent - format.min_exponent(), 0);
  if (exponent > format.bias() + 1) {
    return sign | (options.rounding == Rounding::toward_zero ? format.max_finite() : largest);
  }
  const int quantum = format.min_exponent() + steps_above_smallest - format.fraction_bits;
  const std::uint64_t kept = detail::shifted(significand, quantum - (exponent - 52), options);
  // The hidden bit of a normal value, and a carry out of the fraction, both add to the exponent.
  const std::uint64_t magnitude =
      (static_cast<std::uint64_t>(steps_above_smallest) << format.fraction_bits) + kept;
  if (magnitude <= format.max_finite()) return sign | static_cast<std::uint32_t>(magnitude);
  return sign | (options.rounding == Rounding::toward_zero ? format.max_finite() : largest);
}

/// Returns x rounded to the format.
inline double rounded_to(const NumberFormat& format, double x, const EncodeOptions& options = {}) {
  return decode(encode(x, format, options), format);
}

}  // namespace halfgrad
