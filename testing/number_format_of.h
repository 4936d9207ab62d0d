#pragma once

#include <algorithm>
#include <cmath>

#include <halfgrad/core/dtype.h>
#include <halfgrad/core/numbers/number_format.h>

namespace halfgrad::testing {

/// binary64. Only its limits are used: encode and decode take formats of up to 32 bits.
inline constexpr NumberFormat kFp64{"fp64", 11, 52};

/// The format of a floating-point dtype; binary64 for the other dtypes, whose values fit a double.
inline const NumberFormat& number_format_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return kFp32;
    case DType::f16:
      return kFp16;
    case DType::bf16:
      return kBf16;
    default:
      return kFp64;
  }
}

/// Half a unit in the last place of 1, the smallest subnormal, the largest finite value.
struct FormatLimits {
  double roundoff, smallest, largest;
};

inline FormatLimits limits_of(DType dtype) {
  const NumberFormat& format = number_format_of(dtype);
  const double roundoff = std::ldexp(1, format.roundoff_exponent());
  return {roundoff, std::ldexp(1, format.min_exponent() - format.fraction_bits),
          std::ldexp(2 - 2 * roundoff, format.bias())};
}

/// x as the dtype stores it; x itself for float64 and for dtypes that are not floating point.
inline double rounded_to(DType dtype, double x) {
  const NumberFormat& format = number_format_of(dtype);
  return &format == &kFp64 ? x : rounded_to(format, x);
}

/// The distance between neighbouring values of the dtype at |x|.
inline double ulp_at(double x, DType dtype) {
  const NumberFormat& format = number_format_of(dtype);
  const int exponent = x == 0 ? format.min_exponent() : std::ilogb(x);
  return std::ldexp(1, std::max(exponent, format.min_exponent()) - format.fraction_bits);
}

}  // namespace halfgrad::testing
