// Compares to_bits with an exact reference, which searches a table of all values of the format.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "exercise.h"
#include "grade.h"

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kSmallestNormal = std::ldexp(1.0, 1 - kBias);
const double kSpacingAtSmallest = std::ldexp(1.0, 1 - kBias - kFractionBits);
const double kLargest = std::ldexp(2 - std::ldexp(1.0, -kFractionBits), kBias);

double value_of(unsigned bits) {
  const unsigned fraction = bits & ((1u << kFractionBits) - 1);
  const unsigned exponent = (bits & 0x7fffu) >> kFractionBits;
  const double sign = (bits & 0x8000u) != 0 ? -1 : 1;
  if (exponent == (1u << kExponentBits) - 1) {
    return fraction == 0 ? sign * kInfinity : std::numeric_limits<double>::quiet_NaN();
  }
  const double significand = (exponent == 0 ? 0.0 : 1.0) + std::ldexp(fraction, -kFractionBits);
  return sign * std::ldexp(significand, std::max(static_cast<int>(exponent), 1) - kBias);
}

// All values from 0 to the largest, in order: the index is the bit pattern.
const std::vector<double>& table() {
  static const std::vector<double> values = [] {
    std::vector<double> all;
    while (std::isfinite(value_of(static_cast<unsigned>(all.size())))) {
      all.push_back(value_of(static_cast<unsigned>(all.size())));
    }
    return all;
  }();
  return values;
}

double reference(double x) {
  if (std::isnan(x) || std::isinf(x)) return x;
  const double magnitude = std::fabs(x);
  const auto above = std::lower_bound(table().begin(), table().end(), magnitude);
  // The value after the largest would be a power of two: inputs that round to it are infinite.
  const double upper = above == table().end() ? std::ldexp(1.0, kBias + 1) : *above;
  if (upper == magnitude) return x;
  const double lower = *(above - 1);
  const bool lower_is_even = (above - 1 - table().begin()) % 2 == 0;
  const bool takes_lower = magnitude - lower < upper - magnitude ||
                           (magnitude - lower == upper - magnitude && lower_is_even);
  const double nearest = takes_lower ? lower : above == table().end() ? kInfinity : upper;
  return std::copysign(nearest, x);
}

double student(double x) { return value_of(to_bits(static_cast<float>(x))); }

std::vector<double> random_floats(std::uint64_t seed, double low_exponent, double high_exponent) {
  std::mt19937_64 random(seed + 1);
  std::vector<double> values(20000);
  for (double& value : values) {
    const double u = std::ldexp(static_cast<double>(random() >> 11), -53);
    const double magnitude = std::exp2(low_exponent + u * (high_exponent - low_exponent));
    value = static_cast<float>(random() % 2 == 0 ? magnitude : -magnitude);
  }
  return values;
}

std::vector<double> ties() {
  std::vector<double> values;
  for (std::size_t i = 0; i + 1 < table().size(); i += 7) {
    values.push_back((table()[i] + table()[i + 1]) / 2);
  }
  return values;
}

}  // namespace

int main(int argc, char** argv) {
  grade::Grader grader(argc, argv);
  const grade::Budget exactly = {};
  const double low = 1 - kBias;
  grader.each("values that the format has", {1, 2, -2, 0.5, 1.5, -6.5, 0.15625}, student, reference,
              exactly);
  grader.each("zero keeps its sign", {0.0, -0.0}, student, reference, exactly);
  grader.hint("a number in the middle of two values goes to the one whose last bit is 0");
  grader.each("ties to even", ties(), student, reference, exactly);
  grader.hint("rounding up the largest fraction carries into the exponent");
  grader.each("just below powers of two", {1.99999988079071, -3.99999976158142, 0.999999940395355},
              student, reference, exactly);
  grader.each("20,000 random normal values", random_floats(grader.seed(), low, kBias), student,
              reference, exactly);
  grader.hint(
      "below the smallest normal value the spacing stays the same, and there is no hidden 1");
  grader.each("subnormal values",
              {kSmallestNormal, kSmallestNormal / 2, kSpacingAtSmallest, 3 * kSpacingAtSmallest,
               kSpacingAtSmallest / 2, -0.75 * kSpacingAtSmallest, kSpacingAtSmallest / 4},
              student, reference, exactly);
  grader.each("20,000 random small values",
              random_floats(grader.seed() + 1, low - kFractionBits - 3, low), student, reference,
              exactly);
  const double half_spacing = (kLargest - table()[table().size() - 2]) / 2;
  grader.each("the largest value, and overflow",
              {kLargest, -kLargest, kLargest + half_spacing / 2, kLargest + half_spacing,
               -2 * kLargest, 3e38, kInfinity, -kInfinity},
              student, reference, exactly);
  grader.each("NaN", {std::numeric_limits<double>::quiet_NaN()}, student, reference, exactly);
  return grader.finish();
}
