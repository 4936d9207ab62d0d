// Exercise 1: your own conversion to {{NAME}}, which has the largest value {{LARGEST}}.
#include "exercise.h"

#include <cmath>
#include <cstdint>

// Useful functions of <cmath>: std::signbit(x), std::isnan(x), std::isinf(x), std::fabs(x);
// std::frexp(x, &e) gives m in [0.5, 1) with x = m * 2^e; std::ldexp(x, e) gives x * 2^e exactly;
// std::nearbyint(x) rounds to an integer, ties to even.

std::uint16_t to_bits(float x) {
  // solution begin
  // blank: // Here: the sign, and 0 for everything else. Replace it.
  // blank: return std::signbit(x) ? 0x8000 : 0;
  const auto sign = static_cast<std::uint16_t>(std::signbit(x) ? 0x8000 : 0);
  const int largest_exponent = (1 << kExponentBits) - 1;
  const auto infinity = static_cast<std::uint16_t>(largest_exponent << kFractionBits);
  if (std::isnan(x)) return sign | infinity | 1;
  if (std::isinf(x)) return sign | infinity;

  // 2^exponent <= |x| < 2^(exponent + 1); the subnormal values share the smallest exponent.
  int exponent = 0;
  std::frexp(x, &exponent);
  exponent -= 1;
  if (exponent < 1 - kBias || x == 0) exponent = 1 - kBias;

  // |x| in units of the spacing there. A normal value has the hidden bit 2^kFractionBits.
  const double units = std::ldexp(std::fabs(static_cast<double>(x)), kFractionBits - exponent);
  const auto rounded = static_cast<std::int64_t>(std::nearbyint(units));

  // The hidden bit adds 1 to the exponent field, and so does a carry out of the fraction.
  const std::int64_t magnitude =
      (static_cast<std::int64_t>(exponent + kBias - 1) << kFractionBits) + rounded;
  return sign | (magnitude < infinity ? static_cast<std::uint16_t>(magnitude) : infinity);
  // solution end
}
