#pragma once

#include <cmath>
#include <concepts>

#include <halfgrad/core/math/float_math.h>
#include <halfgrad/core/math/simd.h>

/// Elementary functions that return the type of their argument: math::exp(float) is a float on
/// every compiler. The same name serves float, double, Pack<float>, Pack<double>, Dual (dual.h) and
/// device code. Arguments and results are as in <cmath>: angles in radians, IEEE 754 edge values.
///
/// Accuracy: scalars and Pack<double> use the C library, with errors below 1 ulp (log10 and tanh
/// 2). A GPU uses CUDA's functions, by its manual within 2 ulp; but sin, cos, tan and pow of a
/// float are computed in double everywhere, because CUDA's tan and pow are less exact. fmod, floor
/// and trunc are exact everywhere. Pack<float> is our own (float_math.h), with the bounds listed in
/// tests/core/math/math_test.cpp. Scalar float and Pack<float> may therefore differ in the last
/// bit: use packs throughout where the result must not depend on the position of an element.
namespace halfgrad::math {

template <std::floating_point T>
HG_HD T exp(T x) {
  return std::exp(x);
}
template <std::floating_point T>
HG_HD T exp2(T x) {
  return std::exp2(x);
}
template <std::floating_point T>
HG_HD T expm1(T x) {
  return std::expm1(x);
}
template <std::floating_point T>
HG_HD T log(T x) {
  return std::log(x);
}
template <std::floating_point T>
HG_HD T log2(T x) {
  return std::log2(x);
}
template <std::floating_point T>
HG_HD T log10(T x) {
  return std::log10(x);
}
template <std::floating_point T>
HG_HD T log1p(T x) {
  return std::log1p(x);
}
template <std::floating_point T>
HG_HD T sin(T x) {
  return static_cast<T>(std::sin(static_cast<double>(x)));
}
template <std::floating_point T>
HG_HD T cos(T x) {
  return static_cast<T>(std::cos(static_cast<double>(x)));
}
template <std::floating_point T>
HG_HD T tan(T x) {
  return static_cast<T>(std::tan(static_cast<double>(x)));
}
template <std::floating_point T>
HG_HD T tanh(T x) {
  return std::tanh(x);
}
template <std::floating_point T>
HG_HD T erf(T x) {
  return std::erf(x);
}
template <std::floating_point T>
HG_HD T pow(T x, T exponent) {
  return static_cast<T>(std::pow(static_cast<double>(x), static_cast<double>(exponent)));
}
template <std::floating_point T>
HG_HD T sqrt(T x) {
  return std::sqrt(x);
}
template <std::floating_point T>
HG_HD T rsqrt(T x) {
  return T(1) / std::sqrt(x);
}
template <std::floating_point T>
HG_HD T floor(T x) {
  return std::floor(x);
}
template <std::floating_point T>
HG_HD T trunc(T x) {
  return std::trunc(x);
}
template <std::floating_point T>
HG_HD T fmod(T x, T divisor) {
  return std::fmod(x, divisor);
}
template <std::floating_point T>
HG_HD T abs(T x) {
  return std::fabs(x);
}
template <std::signed_integral T>
HG_HD T abs(T x) {
  return x < 0 ? -x : x;
}
template <std::floating_point T>
HG_HD T copysign(T magnitude, T sign) {
  return std::copysign(magnitude, sign);
}

/// Returns a * b + c, rounded once on a GPU. Without it nvcc would contract the expression in one
/// kernel of an op but not in another, and the bits would depend on the strides of the tensor.
template <class T>
HG_HD T multiply_add(T a, T b, T c) {
  if constexpr (std::floating_point<T>) {
    return std::fma(a, b, c);
  } else {
    return a * b + c;
  }
}

/// Return NaN if either operand is NaN, as torch.minimum and torch.maximum do.
template <class T>
HG_HD T minimum(T a, T b) {
  return select(a < b, a, select(a != a, a, b));
}
template <class T>
HG_HD T maximum(T a, T b) {
  return select(a > b, a, select(a != a, a, b));
}

/// Return bool for scalars and Mask for packs; for a Dual they test the value.
template <class T>
HG_HD mask_t<T> isnan(T x) {
  return x != x;
}
template <class T>
HG_HD mask_t<T> isinf(T x) {
  return select(x > T(0), x, -x) == T(kInfinity);
}
template <class T>
HG_HD mask_t<T> isfinite(T x) {
  return x - x == T(0);
}

}  // namespace halfgrad::math
