#pragma once

#include <cmath>
#include <limits>
#include <numbers>

/// Largest errors of the float functions that nvcc calls with --use_fast_math, as the CUDA C++
/// Programming Guide states them (appendix on mathematical functions, intrinsic functions). An
/// error in ulps is that from the correctly rounded result y: half an ulp is added for the exact
/// one, and an ulp is at most two roundoffs of y.
namespace halfgrad::testing::fast_math {

constexpr double roundoffs_of(double ulps) { return 2 * ulps + 1; }

/// An error of a function: `roundoffs` of its result, and `absolute` beside them.
struct Error {
  double roundoffs = 1;
  double absolute = 0;
};

constexpr Error kUnstated{1, std::numeric_limits<double>::infinity()};
constexpr double kDivision = roundoffs_of(2);    // __fdividef(a, b)
constexpr double kLargestDivisor = 0x1p126;      // it returns 0 for a greater finite b
constexpr double kSquareRoot = roundoffs_of(1);  // -prec-sqrt=false
constexpr double kExp2 = roundoffs_of(2);        // exp2f

/// __expf: 2 + floor(1.173 |x|) ulps.
inline double exp_roundoffs(double x) { return roundoffs_of(2 + std::floor(1.173 * std::fabs(x))); }

inline bool is_near_one(double x) { return x >= 0.5 && x <= 2; }
inline Error log(double x) {
  return is_near_one(x) ? Error{1, 0x1p-21} : Error{roundoffs_of(3), 0};
}
inline Error log2(double x) {
  return is_near_one(x) ? Error{1, 0x1p-22} : Error{roundoffs_of(2), 0};
}
inline Error log10(double x) {
  return is_near_one(x) ? Error{1, 0x1p-24} : Error{roundoffs_of(3), 0};
}

/// __sinf and __cosf are within 2^-21.41 and 2^-21.19 from -pi to pi. No error is stated elsewhere.
inline Error sin_or_cos(double x) {
  return std::fabs(x) <= std::numbers::pi ? Error{1, 0x1p-21} : kUnstated;
}

/// __tanf(x) = __sinf(x) / __cosf(x).
inline Error tan(double x) {
  const double error = sin_or_cos(x).absolute, sine = std::fabs(std::sin(x));
  const double cosine = std::fabs(std::cos(x));
  if (!(error < cosine)) return kUnstated;
  return {kDivision, (sine + error) / (cosine - error) - sine / cosine};
}

/// tanh.approx.f32: a relative error of 2^-11 (PTX ISA, "tanh").
constexpr double kTanhRelative = 0x1p-11;

}  // namespace halfgrad::testing::fast_math
