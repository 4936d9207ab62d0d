#pragma once

#include <cmath>
#include <limits>

#if defined(__AVX__)
#include <immintrin.h>
#endif

#include <halfgrad/core/simd.h>

/// math.h's functions on packs.
namespace halfgrad::math {

namespace detail {

template <class T, class Function>
Pack<T> each_lane(Pack<T> x, Function function) {
  typename Pack<T>::Lanes values = x.lanes();
  for (int i = 0; i < Pack<T>::size; ++i) values[i] = function(values[i]);
  return Pack<T>(values);
}

}  // namespace detail

template <class T>
Pack<T> exp(Pack<T> x) {
  return detail::each_lane(x, [](T lane) { return std::exp(lane); });
}
template <class T>
Pack<T> expm1(Pack<T> x) {
  return detail::each_lane(x, [](T lane) { return std::expm1(lane); });
}
template <class T>
Pack<T> log(Pack<T> x) {
  return detail::each_lane(x, [](T lane) { return std::log(lane); });
}
template <class T>
Pack<T> log1p(Pack<T> x) {
  return detail::each_lane(x, [](T lane) { return std::log1p(lane); });
}
template <class T>
Pack<T> sin(Pack<T> x) {
  return detail::each_lane(x, [](T lane) { return std::sin(lane); });
}
template <class T>
Pack<T> cos(Pack<T> x) {
  return detail::each_lane(x, [](T lane) { return std::cos(lane); });
}
template <class T>
Pack<T> tanh(Pack<T> x) {
  return detail::each_lane(x, [](T lane) { return std::tanh(lane); });
}
template <class T>
Pack<T> erf(Pack<T> x) {
  return detail::each_lane(x, [](T lane) { return std::erf(lane); });
}
template <class T>
Pack<T> pow(Pack<T> x, Pack<T> exponent) {
  typename Pack<T>::Lanes values = x.lanes();
  for (int i = 0; i < Pack<T>::size; ++i) values[i] = std::pow(values[i], exponent[i]);
  return Pack<T>(values);
}

template <class T>
Pack<T> sqrt(Pack<T> x) {
#if defined(__AVX__)
  if constexpr (sizeof(T) == 4) return Pack<T>(_mm256_sqrt_ps(x.lanes()));
  if constexpr (sizeof(T) == 8) return Pack<T>(_mm256_sqrt_pd(x.lanes()));
#else
  return detail::each_lane(x, [](T lane) { return std::sqrt(lane); });
#endif
}

template <class T>
Pack<T> rsqrt(Pack<T> x) {
  return Pack<T>(1) / sqrt(x);
}

template <class T>
Pack<T> floor(Pack<T> x) {
#if defined(__AVX__)
  if constexpr (sizeof(T) == 4) return Pack<T>(_mm256_floor_ps(x.lanes()));
  if constexpr (sizeof(T) == 8) return Pack<T>(_mm256_floor_pd(x.lanes()));
#else
  return detail::each_lane(x, [](T lane) { return std::floor(lane); });
#endif
}

template <class T>
Pack<T> copysign(Pack<T> magnitude, Pack<T> sign) {
  using Bits = typename Mask<T>::Lanes;
  const Bits sign_bit = reinterpret_cast<Bits>(Pack<T>(-0.0).lanes());
  const Bits bits = (reinterpret_cast<Bits>(magnitude.lanes()) & ~sign_bit) |
                    (reinterpret_cast<Bits>(sign.lanes()) & sign_bit);
  return Pack<T>(reinterpret_cast<typename Pack<T>::Lanes>(bits));
}

template <class T>
Pack<T> abs(Pack<T> x) {
  if constexpr (std::is_integral_v<T>) {
    return select(x < 0, -x, x);
  } else {
    return copysign(x, Pack<T>(0));
  }
}

}  // namespace halfgrad::math
