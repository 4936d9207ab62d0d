#pragma once

#include <cstdint>
#include <type_traits>

#include <halfgrad/core/dual.h>

/// Quotients that are rounded to integers, and what such a division leaves: the formulas of div
/// with a rounding mode, remainder and fmod.
///
/// Integers have no infinity to give for a division by 0: there the quotient is 0, and all is left.
/// The smallest integer by -1 wraps around to itself.
namespace halfgrad::detail {

template <class T>
inline constexpr bool kOfIntegers = std::is_integral_v<scalar_t<T>>;

/// An integer divisor, or 1 where division would trap: for 0, and for the -1 that overflows.
template <class T>
HG_HD T divisor_that_divides(T a, T b) {
  const mask_t<T> overflows = (a == T(INT64_MIN)) & (b == T(-1));
  return select((b == T(0)) | overflows, T(1), b);
}

/// Toward zero.
template <class T>
HG_HD T truncated_quotient(T a, T b) {
  if constexpr (kOfIntegers<T>) {
    return select(b == T(0), T(0), a / divisor_that_divides(a, b));
  } else {
    return math::trunc(a / b);
  }
}

/// Exact, with the sign of a.
template <class T>
HG_HD T truncated_remainder(T a, T b) {
  if constexpr (kOfIntegers<T>) {
    const T divisor = divisor_that_divides(a, b);
    return select(b == T(0), a, a - a / divisor * divisor);
  } else {
    return math::fmod(a, b);
  }
}

template <class T>
HG_HD mask_t<T> of_opposite_signs(T a, T b) {
  return ((a < T(0)) & (b > T(0))) | ((a > T(0)) & (b < T(0)));
}

/// Toward -infinity: of what the division leaves, not of a / b, which may have been rounded up to
/// an integer.
template <class T>
HG_HD T floored_quotient(T a, T b) {
  const T left = truncated_remainder(a, b);
  const T down = select(of_opposite_signs(left, b), T(1), T(0));
  if constexpr (kOfIntegers<T>) {
    return truncated_quotient(a, b) - down;
  } else {
    const T whole = (a - left) / b - down;  // but for rounding
    const T below = math::floor(select(b == T(0), a / b, whole));
    const T y = below + select(whole - below > T(0.5), T(1), T(0));
    return select(y == T(0), math::copysign(T(0), a / b), y);
  }
}

/// a - floored_quotient(a, b) * b, rounded once, with the sign of b.
template <class T>
HG_HD T floored_remainder(T a, T b) {
  const T left = truncated_remainder(a, b);
  return select(of_opposite_signs(left, b), left + b, left);
}

}  // namespace halfgrad::detail
