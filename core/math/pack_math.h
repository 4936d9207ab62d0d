#pragma once

#include <cmath>
#include <limits>

#if defined(__AVX__)
#include <immintrin.h>
#endif

#include <halfgrad/core/math/simd.h>

/// math.h's functions on packs. On Pack<double>, for references and checks, they call the C library
/// lane by lane. The functions on Pack<float> are in float_math.h.
namespace halfgrad::math {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

namespace detail {

/// Converts the bits of a pack to a vector of integers, and back.
template <class T>
typename Mask<T>::Lanes bits(Pack<T> x) {
  return reinterpret_cast<typename Mask<T>::Lanes>(x.lanes());
}
template <class T>
Pack<T> from_bits(typename Mask<T>::Lanes bits) {
  return Pack<T>(reinterpret_cast<typename Pack<T>::Lanes>(bits));
}

template <class T, class Function>
Pack<T> each_lane(Pack<T> x, Function function) {
  typename Pack<T>::Lanes values = x.lanes();
  for (int i = 0; i < Pack<T>::size; ++i) values[i] = function(values[i]);
  return Pack<T>(values);
}
template <class T, class Function>
Pack<T> each_lane(Pack<T> x, Pack<T> y, Function function) {
  typename Pack<T>::Lanes values = x.lanes();
  for (int i = 0; i < Pack<T>::size; ++i) values[i] = function(values[i], y[i]);
  return Pack<T>(values);
}

}  // namespace detail

inline Pack<double> exp(Pack<double> x) {
  return detail::each_lane(x, [](double lane) { return std::exp(lane); });
}
inline Pack<double> exp2(Pack<double> x) {
  return detail::each_lane(x, [](double lane) { return std::exp2(lane); });
}
inline Pack<double> expm1(Pack<double> x) {
  return detail::each_lane(x, [](double lane) { return std::expm1(lane); });
}
inline Pack<double> log(Pack<double> x) {
  return detail::each_lane(x, [](double lane) { return std::log(lane); });
}
inline Pack<double> log2(Pack<double> x) {
  return detail::each_lane(x, [](double lane) { return std::log2(lane); });
}
inline Pack<double> log10(Pack<double> x) {
  return detail::each_lane(x, [](double lane) { return std::log10(lane); });
}
inline Pack<double> log1p(Pack<double> x) {
  return detail::each_lane(x, [](double lane) { return std::log1p(lane); });
}
inline Pack<double> sin(Pack<double> x) {
  return detail::each_lane(x, [](double lane) { return std::sin(lane); });
}
inline Pack<double> cos(Pack<double> x) {
  return detail::each_lane(x, [](double lane) { return std::cos(lane); });
}
inline Pack<double> tan(Pack<double> x) {
  return detail::each_lane(x, [](double lane) { return std::tan(lane); });
}
inline Pack<double> tanh(Pack<double> x) {
  return detail::each_lane(x, [](double lane) { return std::tanh(lane); });
}
inline Pack<double> erf(Pack<double> x) {
  return detail::each_lane(x, [](double lane) { return std::erf(lane); });
}
inline Pack<double> pow(Pack<double> x, Pack<double> exponent) {
  return detail::each_lane(x, exponent, [](double a, double b) { return std::pow(a, b); });
}
inline Pack<double> fmod(Pack<double> x, Pack<double> divisor) {
  return detail::each_lane(x, divisor, [](double a, double b) { return std::fmod(a, b); });
}

#if defined(__AVX__)
inline Pack<float> sqrt(Pack<float> x) { return Pack<float>(_mm256_sqrt_ps(x.lanes())); }
inline Pack<double> sqrt(Pack<double> x) { return Pack<double>(_mm256_sqrt_pd(x.lanes())); }
inline Pack<float> floor(Pack<float> x) { return Pack<float>(_mm256_floor_ps(x.lanes())); }
inline Pack<double> floor(Pack<double> x) { return Pack<double>(_mm256_floor_pd(x.lanes())); }
#else
template <class T>
Pack<T> sqrt(Pack<T> x) {
  return detail::each_lane(x, [](T lane) { return std::sqrt(lane); });
}
template <class T>
Pack<T> floor(Pack<T> x) {
  return detail::each_lane(x, [](T lane) { return std::floor(lane); });
}
#endif

template <class T>
Pack<T> rsqrt(Pack<T> x) {
  return T(1) / sqrt(x);
}

template <class T>
Pack<T> copysign(Pack<T> magnitude, Pack<T> sign) {
  const auto sign_bit = detail::bits(Pack<T>(-0.0));
  return detail::from_bits<T>((detail::bits(magnitude) & ~sign_bit) |
                              (detail::bits(sign) & sign_bit));
}

template <class T>
Pack<T> abs(Pack<T> x) {
  return detail::from_bits<T>(detail::bits(x) & ~detail::bits(Pack<T>(-0.0)));
}
template <class T>
Pack<T> trunc(Pack<T> x) {
  return copysign(floor(abs(x)), x);
}
inline Pack<std::int64_t> abs(Pack<std::int64_t> x) { return select(x < 0, -x, x); }

}  // namespace halfgrad::math
