#pragma once

#include <numbers>

#include <halfgrad/core/math/math.h>
#include <halfgrad/core/math/simd.h>

namespace halfgrad {

namespace detail {

/// Whether x is 0; for a Dual, whether its derivative is 0 too.
template <class T>
HG_HD auto is_constant_zero(T x) {
  return x == T(0);
}

/// Returns derivative * factor, where 0 * inf counts as 0 if the derivative is identically zero.
template <class T>
HG_HD T term(T derivative, T factor) {
  return select(is_constant_zero(derivative), T(0), derivative * factor);
}

}  // namespace detail

/// A value and its derivative along one direction: a + b*e with e*e = 0 (forward-mode
/// differentiation). A formula evaluated on {x, 1} gives its value and its slope. So the second
/// derivative of an op is its slope() evaluated on a Dual, and Dual<Dual<T>> gives the third. T is
/// float, double, a Pack of them, or a Dual. Comparisons compare values only.
template <class T>
struct Dual {
  T value{};
  T derivative{};

  Dual() = default;
  HG_HD Dual(T v, T d = T(0)) : value(v), derivative(d) {}

  /// A constant: derivative 0. Narrows without a warning, as Pack does.
  template <detail::Arithmetic Scalar>
  HG_HD Dual(Scalar constant) : value(static_cast<T>(constant)), derivative(0) {}

  HG_HD friend Dual operator+(Dual a, Dual b) {
    return {a.value + b.value, a.derivative + b.derivative};
  }
  HG_HD friend Dual operator-(Dual a, Dual b) {
    return {a.value - b.value, a.derivative - b.derivative};
  }
  HG_HD friend Dual operator*(Dual a, Dual b) {
    return {a.value * b.value,
            detail::term(a.derivative, b.value) + detail::term(b.derivative, a.value)};
  }
  HG_HD friend Dual operator/(Dual a, Dual b) {
    const T quotient = a.value / b.value;
    return {quotient, (a.derivative - detail::term(b.derivative, quotient)) / b.value};
  }
  HG_HD friend Dual operator+(Dual a) { return a; }
  HG_HD friend Dual operator-(Dual a) { return {-a.value, -a.derivative}; }

  HG_HD Dual& operator+=(Dual other) { return *this = *this + other; }
  HG_HD Dual& operator-=(Dual other) { return *this = *this - other; }
  HG_HD Dual& operator*=(Dual other) { return *this = *this * other; }
  HG_HD Dual& operator/=(Dual other) { return *this = *this / other; }

  HG_HD friend mask_t<T> operator<(Dual a, Dual b) { return a.value < b.value; }
  HG_HD friend mask_t<T> operator<=(Dual a, Dual b) { return a.value <= b.value; }
  HG_HD friend mask_t<T> operator>(Dual a, Dual b) { return a.value > b.value; }
  HG_HD friend mask_t<T> operator>=(Dual a, Dual b) { return a.value >= b.value; }
  HG_HD friend mask_t<T> operator==(Dual a, Dual b) { return a.value == b.value; }
  HG_HD friend mask_t<T> operator!=(Dual a, Dual b) { return a.value != b.value; }

  HG_HD friend Dual select(mask_t<T> mask, Dual a, Dual b) {
    return {select(mask, a.value, b.value), select(mask, a.derivative, b.derivative)};
  }
  HG_HD friend mask_t<T> is_constant_zero(Dual x) {
    using detail::is_constant_zero;
    const mask_t<T> constant_value = is_constant_zero(x.value);
    return constant_value & is_constant_zero(x.derivative);
  }
};

template <class T>
struct ScalarOf<Dual<T>> {
  using type = scalar_t<T>;
};

}  // namespace halfgrad

/// math.h's functions of duals:
///
///     f(a + b*e) = f(a) + f'(a)*b*e
///
/// minimum, maximum, isnan, isinf and isfinite need no overload here.
namespace halfgrad::math {

template <class T>
HG_HD Dual<T> exp(Dual<T> x) {
  const T y = exp(x.value);
  return {y, y * x.derivative};
}

template <class T>
HG_HD Dual<T> exp2(Dual<T> x) {
  const T y = exp2(x.value);
  return {y, y * T(std::numbers::ln2) * x.derivative};
}

template <class T>
HG_HD Dual<T> expm1(Dual<T> x) {
  return {expm1(x.value), exp(x.value) * x.derivative};
}

template <class T>
HG_HD Dual<T> log(Dual<T> x) {
  return {log(x.value), x.derivative / x.value};
}

template <class T>
HG_HD Dual<T> log2(Dual<T> x) {
  return {log2(x.value), x.derivative / (T(std::numbers::ln2) * x.value)};
}

template <class T>
HG_HD Dual<T> log10(Dual<T> x) {
  return {log10(x.value), x.derivative / (T(std::numbers::ln10) * x.value)};
}

template <class T>
HG_HD Dual<T> log1p(Dual<T> x) {
  return {log1p(x.value), x.derivative / (T(1) + x.value)};
}

template <class T>
HG_HD Dual<T> sqrt(Dual<T> x) {
  const T y = sqrt(x.value);
  return {y, x.derivative / (y + y)};
}

template <class T>
HG_HD Dual<T> rsqrt(Dual<T> x) {
  const T y = rsqrt(x.value);
  return {y, T(-0.5) * y / x.value * x.derivative};
}

template <class T>
HG_HD Dual<T> cos(Dual<T> x);

template <class T>
HG_HD Dual<T> sin(Dual<T> x) {
  return {sin(x.value), cos(x.value) * x.derivative};
}

template <class T>
HG_HD Dual<T> cos(Dual<T> x) {
  return {cos(x.value), -sin(x.value) * x.derivative};
}

template <class T>
HG_HD Dual<T> tan(Dual<T> x) {
  const T y = tan(x.value);
  return {y, (T(1) + y * y) * x.derivative};
}

template <class T>
HG_HD Dual<T> tanh(Dual<T> x) {
  const T y = tanh(x.value);
  return {y, (T(1) - y * y) * x.derivative};
}

template <class T>
HG_HD Dual<T> erf(Dual<T> x) {
  constexpr double kTwoOverSqrtPi = 1.1283791670955126;
  return {erf(x.value), T(kTwoOverSqrtPi) * exp(-x.value * x.value) * x.derivative};
}

/// The derivative is
///
///     d(x^p) = p x^(p-1) dx + x^p log(x) dp
///
/// Terms that vanish in the limit are 0 instead of 0 * inf. So a constant p gives no NaN for x = 0
/// or negative x.
template <class T>
HG_HD Dual<T> pow(Dual<T> x, Dual<T> exponent) {
  const T base = x.value;
  const T p = exponent.value;
  const T y = pow(base, p);
  const T by_base = halfgrad::detail::term(x.derivative, p * pow(base, p - T(1)));
  const T by_exponent = halfgrad::detail::term(exponent.derivative, y * log(base));
  const auto at_zero = base == T(0);
  return {y, select(at_zero & (p == T(0)), T(0), by_base) +
                 select(at_zero & (p >= T(0)), T(0), by_exponent)};
}

/// The slope at 0 is 0, as in PyTorch.
template <class T>
HG_HD Dual<T> abs(Dual<T> x) {
  const T sign = select(x.value > T(0), T(1), select(x.value < T(0), T(-1), T(0)));
  return {abs(x.value), sign * x.derivative};
}

template <class T>
HG_HD Dual<T> floor(Dual<T> x) {
  return {floor(x.value), T(0)};
}

template <class T>
HG_HD Dual<T> trunc(Dual<T> x) {
  return {trunc(x.value), T(0)};
}

template <class T>
HG_HD Dual<T> fmod(Dual<T> x, Dual<T> divisor) {
  const T quotient = trunc(x.value / divisor.value);
  return {fmod(x.value, divisor.value),
          x.derivative - halfgrad::detail::term(divisor.derivative, quotient)};
}

template <class T>
HG_HD Dual<T> copysign(Dual<T> magnitude, Dual<T> sign) {
  const T flip = copysign(T(1), magnitude.value) * copysign(T(1), sign.value);
  return {copysign(magnitude.value, sign.value), flip * magnitude.derivative};
}

}  // namespace halfgrad::math
