#pragma once

#include <cstdint>
#include <type_traits>

#include <halfgrad/core/math/dual.h>

/// Quotients that are rounded to integers, and their remainders: the formulas of div with a
/// rounding mode, remainder and fmod.
///
/// Integers have no infinity for a / 0: the quotient is 0 and the remainder a. The smallest integer
/// divided by -1 wraps around to itself.
namespace halfgrad::detail {

template <class T>
inline constexpr bool kIsInteger = std::is_integral_v<scalar_t<T>>;

/// Returns the integer divisor b, or 1 where the division would trap: b = 0, and INT64_MIN / -1.
template <class T>
HG_HD T safe_divisor(T a, T b) {
  const mask_t<T> overflows = (a == T(INT64_MIN)) & (b == T(-1));
  return select((b == T(0)) | overflows, T(1), b);
}

/// a / b, rounded toward zero
template <class T>
HG_HD T truncated_quotient(T a, T b) {
  if constexpr (kIsInteger<T>) {
    return select(b == T(0), T(0), a / safe_divisor(a, b));
  } else {
    return math::trunc(a / b);
  }
}

/// a - truncated_quotient(a, b) * b, exact, with the sign of a
template <class T>
HG_HD T truncated_remainder(T a, T b) {
  if constexpr (kIsInteger<T>) {
    const T divisor = safe_divisor(a, b);
    return select(b == T(0), a, a - a / divisor * divisor);
  } else {
    return math::fmod(a, b);
  }
}

template <class T>
HG_HD mask_t<T> have_opposite_signs(T a, T b) {
  return ((a < T(0)) & (b > T(0))) | ((a > T(0)) & (b < T(0)));
}

/// a / b, rounded toward -infinity: from the exact remainder, since a / b itself may be rounded up
/// to an integer.
template <class T>
HG_HD T floored_quotient(T a, T b) {
  const T rest = truncated_remainder(a, b);
  const T down = select(have_opposite_signs(rest, b), T(1), T(0));
  if constexpr (kIsInteger<T>) {
    return truncated_quotient(a, b) - down;
  } else {
    const T whole = (a - rest) / b - down;  // up to a rounding error
    const T below = math::floor(select(b == T(0), a / b, whole));
    const T y = below + select(whole - below > T(0.5), T(1), T(0));
    return select(y == T(0), math::copysign(T(0), a / b), y);
  }
}

/// a - floored_quotient(a, b) * b, rounded once, with the sign of b
template <class T>
HG_HD T floored_remainder(T a, T b) {
  const T rest = truncated_remainder(a, b);
  return select(have_opposite_signs(rest, b), rest + b, rest);
}

}  // namespace halfgrad::detail
