#include <halfgrad/testing/hostile_values.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include <halfgrad/testing/number_format_of.h>

namespace halfgrad::testing::detail {
namespace {

double ordinary(const OperandSpec& spec, const HostileDice& dice) {
  // Two standard deviations fill the usual range; values outside wrap around to its other end.
  const double width = spec.high - spec.low;
  const double x = 0.5 + dice.normal / 4;
  return spec.low + width * (x - std::floor(x));
}

/// A value with one of the `count` exponents from `lowest` on, each equally often.
double with_random_exponent(int count, int lowest, double uniform) {
  const double exponent = std::floor(uniform * count);
  return std::ldexp(1 + uniform * count - exponent, static_cast<int>(exponent) + lowest);
}

/// The relative distance from a tie, often 0: a neighbour in float32, and in float64 a value that
/// float32 rounds to the tie, so that rounding twice goes wrong.
double beside_tie(DType dtype, double part) {
  const double distance = dtype == kFloat32 ? 0x1p-23 : dtype == kFloat64 ? 0x1p-30 : 0;
  return part < 0.2 ? distance : part < 0.4 ? -distance : 0;
}

/// An odd or even multiple of the distance between neighbours; of half that of a 16-bit dtype for a
/// wider one, so that storing it narrower is a tie as well.
double tie(DType dtype, const HostileDice& dice) {
  int bits = number_format_of(dtype).fraction_bits;
  if (dtype == kFloat32 || dtype == kFloat64) {
    if (dice.normal > 0.5) bits = kFp16.fraction_bits + 1;
    if (dice.normal < -0.5) bits = kBf16.fraction_bits + 1;
  }
  if (dtype == kFloat64 && std::fabs(dice.normal) < 0.2) bits = kFp32.fraction_bits + 1;
  const double one = std::ldexp(1, bits);
  const double x = one + std::floor(dice.uniform * one);
  return dice.sign * x *
         (1 + beside_tie(dtype, dice.uniform * one - std::floor(dice.uniform * one)));
}

/// Values where exp, exp2 and tanh overflow, vanish or saturate in some dtype, where sin and cos
/// turn, and where integers of 16, 24 or 32 bits end. One of four is exactly such a value, which
/// tells > from >=.
double threshold(DType dtype, const HostileDice& dice) {
  static constexpr double kAt[] = {
      88.72,    88.37, 87.34, 103.97, 104,     11.09,       9.704,       16.64,  17.33,  20,
      15,       30,    10,    9,      8,       6,           5,           4,      3,      2,
      1,        0.5,   1.5,   50,     100,     128,         126,         127,    149,    150,
      16,       14,    24,    25,     0.6931,  1.5708,      3.1416,      0.7854, 6.2832, 8388608,
      16777216, 32767, 65504, 65536,  4194304, 2.1474836e9, 4.2949673e9, 0.25};
  const double width = dice.uniform * std::size(kAt);
  const double part = width - std::floor(width);
  const double jitter = part < 0.25 ? 1 : 1 + std::ldexp(dice.normal, part < 0.6 ? -8 : -16);
  const double x = kAt[static_cast<std::size_t>(width)] * jitter;
  return dice.sign * std::fmin(x, limits_of(dtype).largest);
}

/// The mean of rows with an offset, whose deviation is 1. The bound of a variance of n elements, n
/// u mean, allows anything for a large mean of a long row.
int log2_of_mean(const OperandSpec& spec) {
  return !spec.sizes.empty() && spec.sizes.back() > 5000 ? 9 : 11;
}

double small_integer(const HostileDice& dice) { return dice.sign * std::floor(dice.uniform * 4); }

/// Odd integers of 12 and 19 bits, of 30 and 42 in float64, among small ones. They are so rare that
/// the sum of `count` of them, each times 3, is exact. 16-bit dtypes get small ones only.
double wide_integer(DType dtype, const HostileDice& dice, double count) {
  const double longest = std::fmin(1.0 / 16, 3 / count);
  const double wide = longest + std::fmin(1.0 / 8, 600 / count);
  if (number_format_of(dtype).fraction_bits < 20 || dice.uniform >= wide) {
    return small_integer(dice);
  }
  const bool is_longest = dice.uniform < longest;
  const int bits = dtype == kFloat64 ? (is_longest ? 42 : 30) : is_longest ? 19 : 12;
  const double part = std::fmod(std::fabs(dice.normal) * 1009, 1);
  return dice.sign * (std::ldexp(1, bits - 1) + 2 * std::floor(std::ldexp(part, bits - 2)) + 1);
}

double any_special(DType dtype, const HostileDice& dice) {
  const FormatLimits limits = limits_of(dtype);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double values[] = {0,
                           1,
                           kInfinity,
                           std::nan(""),
                           limits.largest,
                           limits.smallest,
                           0.5,
                           2,
                           dice.uniform,
                           kInfinity,
                           0,
                           3,
                           1.5,
                           dice.normal,
                           std::ldexp(1, number_format_of(dtype).min_exponent())};
  return dice.sign * values[static_cast<std::size_t>(dice.uniform * std::size(values))];
}

}  // namespace

double finite_number(Hostile kind, const OperandSpec& spec, DType dtype, const HostileDice& dice,
                     double row_sign, std::uint64_t stream) {
  const NumberFormat& format = number_format_of(dtype);
  const FormatLimits limits = limits_of(dtype);
  switch (kind) {
    case Hostile::positive:
      return 1 + dice.uniform;
    case Hostile::integers:
      return small_integer(dice);
    case Hostile::wide_integers:
    case Hostile::wide_others:
      return (stream % 2 == 0) == (kind == Hostile::wide_integers)
                 ? wide_integer(dtype, dice, static_cast<double>(numel(spec.sizes)))
                 : small_integer(dice);
    case Hostile::offset:
      return row_sign * std::ldexp(1, std::min(format.fraction_bits - 1, log2_of_mean(spec))) +
             dice.normal;
    case Hostile::uniform_exponent:
      return dice.sign *
             with_random_exponent(2 * format.bias(), format.min_exponent(), dice.uniform);
    case Hostile::moderate:
      return dice.sign * with_random_exponent(15, -8, dice.uniform);
    case Hostile::subnormal:
      return dice.sign * limits.smallest * std::ldexp(dice.uniform, format.fraction_bits);
    case Hostile::near_max: {
      // Rows below every finite start of a maximum but the lowest value.
      const bool is_negative = stream == 0 && row_sign < 0;
      return (is_negative ? -1 : dice.sign) * limits.largest * (0.5 + dice.uniform / 2);
    }
    case Hostile::one_hot:
    case Hostile::signed_zeros:
      return dice.sign * 0.0;
    case Hostile::small:
      return std::ldexp(dice.sign * (1 + dice.uniform), -9);
    case Hostile::ties:
      return tie(dtype, dice);
    case Hostile::specials:
      return any_special(dtype, dice);
    case Hostile::range_edge:
      return dice.sign * limits.largest * limits.roundoff * dice.uniform;
    case Hostile::thresholds:
      return threshold(dtype, dice);
    case Hostile::one_sided:
      // The rounding of a product of larger values would leave exp() nothing to judge.
      return stream == 0 ? row_sign * std::ldexp(1 + dice.uniform, 14) : 1 + dice.uniform;
    default:
      return ordinary(spec, dice);
  }
}

}  // namespace halfgrad::testing::detail
