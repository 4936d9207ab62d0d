#pragma once

#include <cstdint>
#include <type_traits>

#include <halfgrad/core/dtype.h>
#include <halfgrad/core/hd.h>

namespace halfgrad {

/// Sets out[i] = float(in[i]) for i < n, with vector instructions where available; the bits are
/// those of the scalar conversion. The ranges must not overlap.
void widen(const Half* in, float* out, std::int64_t n);
void widen(const BFloat16* in, float* out, std::int64_t n);

/// Sets out[i] = Half(in[i]) or BFloat16(in[i]) for i < n, with vector instructions where
/// available; the bits are those of the scalar conversion. The ranges must not overlap.
void narrow(const float* in, Half* out, std::int64_t n);
void narrow(const float* in, BFloat16* out, std::int64_t n);

namespace detail {

// Rounds x to odd: an inexact x becomes the neighbouring float whose last bit is 1. A second
// rounding, to 16 bits, then gives the same as rounding the double once (Boldo and Melquiond 2008,
// "Emulation of FMA").
HG_HD constexpr float round_to_odd(double x) {
  const auto nearest = static_cast<float>(x);
  const double back = static_cast<double>(nearest);
  const bool infinite = nearest - nearest != 0;  // or NaN
  if (back == x || infinite) return nearest;
  const bool away = x < 0 ? back < x : back > x;
  return float_from_bits((bits_of_float(nearest) - (away ? 1U : 0U)) | 1U);
}

// Rounds an integer of more than 53 bits to an odd multiple of 2^10, which a double holds.
HG_HD constexpr float round_to_odd(std::int64_t x) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53, kUnit = std::int64_t{1} << 10;
  const bool inexact = (x > kExact || x < -kExact) && x % kUnit != 0;
  return round_to_odd(static_cast<double>(inexact ? (x & -kUnit) | kUnit : x));
}

// Converts toward zero. NaN and values out of range become the smallest integer, as on x86.
template <class T>
HG_HD constexpr std::int64_t to_integer(T x) {
  constexpr T kLimit = 0x1p63;
  return x >= -kLimit && x < kLimit ? static_cast<std::int64_t>(x) : INT64_MIN;
}

/// Converts x to another stored or compute type, rounded once, to nearest.
template <class To, class From>
HG_HD constexpr To convert(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (std::is_same_v<To, bool>) {
    return static_cast<compute_t<From>>(x) != 0;
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    if constexpr (std::is_same_v<From, float>) return To(x);
    if constexpr (std::is_same_v<From, std::int64_t>) return To(round_to_odd(x));
    return To(round_to_odd(static_cast<double>(static_cast<compute_t<From>>(x))));
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return static_cast<To>(to_integer(x));
  } else {
    return static_cast<To>(static_cast<compute_t<From>>(x));
  }
}

}  // namespace detail

}  // namespace halfgrad
