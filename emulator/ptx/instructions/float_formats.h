#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace halfgrad::emulator {

/// Rounding modifiers: .rn, .rz, .rm, .rp and .rna (to nearest, ties away from zero).
enum class Rounding : std::uint8_t { nearest, zero, down, up, nearest_away };

// Binary formats below double. `nan` is the NaN that instructions produce; `infinity` of E4M3,
// which has none, is its NaN.
struct F32 {
  static constexpr int exponent_bits = 8, mantissa_bits = 23;
  static constexpr std::uint32_t nan = 0x7fffffff, infinity = 0x7f800000, largest = 0x7f7fffff;
};
struct TF32 {  // in the upper 19 bits of 32
  static constexpr int exponent_bits = 8, mantissa_bits = 10;
  static constexpr std::uint32_t nan = 0x3ffff, infinity = 0x3fc00, largest = 0x3fbff;
};
struct F16 {
  static constexpr int exponent_bits = 5, mantissa_bits = 10;
  static constexpr std::uint32_t nan = 0x7fff, infinity = 0x7c00, largest = 0x7bff, one = 0x3c00;
};
struct BF16 {
  static constexpr int exponent_bits = 8, mantissa_bits = 7;
  static constexpr std::uint32_t nan = 0x7fff, infinity = 0x7f80, largest = 0x7f7f, one = 0x3f80;
};
struct E4M3 {
  static constexpr int exponent_bits = 4, mantissa_bits = 3;
  static constexpr std::uint32_t nan = 0x7f, infinity = 0x7f, largest = 0x7e;
};
struct E5M2 {
  static constexpr int exponent_bits = 5, mantissa_bits = 2;
  static constexpr std::uint32_t nan = 0x7f, infinity = 0x7c, largest = 0x7b;
};

/// Whether a significand of which `rest` of `unit` is cut off rounds away from zero.
template <Rounding R>
constexpr bool rounds_away(bool negative, bool odd, std::uint64_t rest, std::uint64_t unit) {
  const std::uint64_t half = unit / 2;
  switch (R) {
    case Rounding::nearest:
      return rest > half || (rest == half && odd);
    case Rounding::nearest_away:
      return rest >= half;
    case Rounding::zero:
      return false;
    case Rounding::down:
      return negative && rest != 0;
    case Rounding::up:
      return !negative && rest != 0;
  }
}

/// The bits of x in a format, by one rounding. `finite`: the largest value instead of infinity.
///
///     x = significand * 2^(exponent - 52),   kept = significand >> drop
///
/// Adding the exponent field and the kept bits lets a carry of the rounding run into the exponent.
template <class Format, Rounding R>
constexpr std::uint32_t narrow(double x, bool finite = false) {
  constexpr int bias = (1 << (Format::exponent_bits - 1)) - 1;
  constexpr int mantissa = Format::mantissa_bits;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
  const bool negative = magnitude != bits;
  const std::int64_t exponent = static_cast<std::int64_t>(magnitude >> 52) - 1023 + bias;
  const std::int64_t field = exponent > 1 ? exponent : 1;  // 1: subnormals, too
  const std::int64_t wanted = 52 - mantissa + field - exponent;
  const std::int64_t drop = wanted < 63 ? wanted : 63;
  const std::uint64_t hidden = magnitude >> 52 != 0 ? std::uint64_t{1} << 52 : 0;
  const std::uint64_t significand = (magnitude & ((std::uint64_t{1} << 52) - 1)) | hidden;
  const std::uint64_t kept = significand >> drop, unit = std::uint64_t{1} << drop;
  const std::uint64_t away =
      rounds_away<R>(negative, kept & 1, significand & (unit - 1), unit) ? 1 : 0;
  std::uint64_t result = (static_cast<std::uint64_t>(field - 1) << mantissa) + kept + away;

  constexpr std::uint64_t kInfinity = 0x7ffull << 52;
  const bool to_infinity = !finite && (R == Rounding::nearest || R == Rounding::nearest_away ||
                                       (R == Rounding::down && negative) ||
                                       (R == Rounding::up && !negative) || magnitude == kInfinity);
  result = result > Format::largest ? (to_infinity ? Format::infinity : Format::largest) : result;
  constexpr int sign_position = Format::exponent_bits + mantissa;
  result |= static_cast<std::uint64_t>(negative) << sign_position;
  return static_cast<std::uint32_t>(magnitude > kInfinity ? Format::nan : result);
}

/// The value of bits in a format. Subnormals are right without a case of their own: the exponent is
/// rebiased by a product.
template <class Format>
constexpr float widen(std::uint32_t bits) {
  constexpr int kept = Format::exponent_bits + Format::mantissa_bits;
  constexpr std::uint32_t rebias = 127 + 127 - ((1 << (Format::exponent_bits - 1)) - 1);
  const std::uint32_t magnitude = bits & ((1u << kept) - 1);
  const std::uint32_t sign = (bits >> kept & 1) << 31;
  const float value = std::bit_cast<float>(magnitude << (23 - Format::mantissa_bits)) *
                      std::bit_cast<float>(rebias << 23);
  const std::uint32_t finite = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t special = magnitude == Format::infinity ? F32::infinity : F32::nan;
  constexpr bool has_infinity = Format::infinity != Format::nan;
  constexpr std::uint32_t first_special = has_infinity ? Format::infinity : Format::nan;
  const std::uint32_t result =
      magnitude >= first_special ? (has_infinity ? special : F32::nan) : finite;
  return std::bit_cast<float>(result == F32::nan ? result : result | sign);
}

/// BF16 is the upper half of f32.
template <>
constexpr float widen<BF16>(std::uint32_t bits) {
  return std::bit_cast<float>((bits & 0x7fff) > BF16::infinity ? F32::nan : bits << 16);
}

/// A sum rounded to odd: its last bit is 1 if it is inexact, so rounding it again to a format of at
/// most 51 bits gives what one rounding of the exact sum would.
inline double add_to_odd(double a, double b) {
  const double sum = a + b, of_b = sum - a;
  const double error =
      (a - (sum - of_b)) + (b - of_b);  // exact (Knuth's TwoSum), NaN if sum is inf
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(sum);
  const bool inexact = error < 0 || error > 0, too_large = (error > 0) != (sum > 0);
  return std::bit_cast<double>(inexact ? (bits - (too_large ? 1 : 0)) | 1 : bits);
}

/// The sum rounded to odd, for a rounding mode R. The mode decides only the sign of x - x, which is
/// -0 when rounding down and +0 otherwise.
template <Rounding R>
double add_to_odd(double a, double b) {
  return R == Rounding::down ? -add_to_odd(-a, -b) : add_to_odd(a, b);
}

/// A quotient or root q whose exact value is q + remainder / divisor, rounded to odd.
inline double to_odd(double q, double remainder, double divisor) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(q);
  const bool inexact = remainder < 0 || remainder > 0;
  const bool grows = (remainder > 0) == (divisor > 0);
  const bool too_large = grows != (q > 0);
  return std::bit_cast<double>(inexact ? (bits - (too_large ? 1 : 0)) | 1 : bits);
}

}  // namespace halfgrad::emulator
