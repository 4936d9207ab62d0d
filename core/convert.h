#pragma once

#include <cstdint>
#include <type_traits>

#include <halfgrad/core/dtype.h>
#include <halfgrad/core/hd.h>

namespace halfgrad {

/// out[i] = float(in[i]) for i < n, bit for bit, with vector instructions where there are any. The
/// ranges must not overlap.
void widen(const Half* in, float* out, int64_t n);
void widen(const BFloat16* in, float* out, int64_t n);

/// out[i] = Half(in[i]) or BFloat16(in[i]) for i < n, bit for bit: rounded to nearest, ties to
/// even. The ranges must not overlap.
void narrow(const float* in, Half* out, int64_t n);
void narrow(const float* in, BFloat16* out, int64_t n);

namespace detail {

// To the nearest float, but to the odd neighbour when inexact: a second rounding, to 16 bits, then
// gives what rounding the double once would (Boldo and Melquiond 2008, "Emulation of FMA").
HG_HD constexpr float round_to_odd(double x) {
  const auto nearest = static_cast<float>(x);
  const double back = static_cast<double>(nearest);
  const bool infinite = nearest - nearest != 0;  // or NaN
  if (back == x || infinite) return nearest;
  const bool away = x < 0 ? back < x : back > x;
  return float_from_bits((bits_of_float(nearest) - (away ? 1U : 0U)) | 1U);
}

// From an integer of more than 53 bits likewise: to the odd one of the two multiples of 2^10 around
// it, which a double holds.
HG_HD constexpr float round_to_odd(int64_t x) {
  constexpr int64_t kExact = int64_t{1} << 53, kUnit = int64_t{1} << 10;
  const bool inexact = (x > kExact || x < -kExact) && x % kUnit != 0;
  return round_to_odd(static_cast<double>(inexact ? (x & -kUnit) | kUnit : x));
}

// Out of range, and NaN, becomes the smallest integer, as x86's own conversion does.
template <class T>
HG_HD constexpr int64_t to_integer(T x) {
  constexpr T kLimit = 0x1p63;
  return x >= -kLimit && x < kLimit ? static_cast<int64_t>(x) : INT64_MIN;
}

/// x as a number of another stored or compute type: rounded once, to nearest.
template <class To, class From>
HG_HD constexpr To convert(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (std::is_same_v<To, bool>) {
    return static_cast<compute_t<From>>(x) != 0;
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    if constexpr (std::is_same_v<From, float>) return To(x);
    if constexpr (std::is_same_v<From, int64_t>) return To(round_to_odd(x));
    return To(round_to_odd(static_cast<double>(static_cast<compute_t<From>>(x))));
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return static_cast<To>(to_integer(x));
  } else {
    return static_cast<To>(static_cast<compute_t<From>>(x));
  }
}

}  // namespace detail

}  // namespace halfgrad
