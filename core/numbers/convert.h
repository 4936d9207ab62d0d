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

// Converts toward zero. NaN and values out of range become the smallest To, as on x86.
template <class To = std::int64_t, class T>
HG_HD constexpr To to_integer(T x) {
  static_assert(sizeof(To) == 8 || sizeof(To) == 4);
  constexpr T kLimit = sizeof(To) == 8 ? 0x1p63 : 0x1p31;
  return static_cast<To>(x >= -kLimit && x < kLimit ? x : -kLimit);
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
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<compute_t<From>>) {
    // A shorter integer gets the low bits of the int32: 300 becomes 44 in uint8, inf becomes 0.
    using Wide = std::conditional_t<sizeof(To) == 8, std::int64_t, std::int32_t>;
    return static_cast<To>(to_integer<Wide>(static_cast<compute_t<From>>(x)));
  } else {
    return static_cast<To>(static_cast<compute_t<From>>(x));
  }
}

}  // namespace detail

}  // namespace halfgrad
