#pragma once

#include <halfgrad/core/math/dual.h>
#include <halfgrad/core/math/math.h>

/// gelu and its tanh approximation (Hendrycks and Gimpel 2016), for the elementwise op and for the
/// kernels of a whole MLP. Sums of products are multiply_adds: nvcc would contract them in one
/// kernel but not in another, and an MLP would have other bits than its layers one by one.
namespace halfgrad::math {

/// y = x Phi(x),  Phi(x) = (1 + erf(x / sqrt(2))) / 2
/// dy/dx = Phi(x) + x phi(x),  phi(x) = e^(-x^2 / 2) / sqrt(2 pi)
struct ExactGelu {
  static constexpr double kSqrtHalf = 0.70710678118654752;
  static constexpr double kOneOverSqrtTwoPi = 0.39894228040143268;

  template <class T>
  HG_HD static T normal_cdf(T x) {
    return T(0.5) * (T(1) + erf(T(kSqrtHalf) * x));
  }
  template <class T>
  HG_HD static T value(T x) {
    return x * normal_cdf(x);
  }
  template <class T>
  HG_HD static T slope(T x) {
    return multiply_add(x, T(kOneOverSqrtTwoPi) * exp(T(-0.5) * x * x), normal_cdf(x));
  }
};

/// y = x (1 + tanh(u)) / 2,  u = sqrt(2 / pi) (x + 0.044715 x^3)
/// dy/dx = (1 + tanh(u)) / 2 + x / 2 (1 - tanh(u)^2) du/dx
struct TanhGelu {
  static constexpr double kScale = 0.79788456080286536;  // sqrt(2 / pi)
  static constexpr double kCubic = 0.044715;

  /// x clamped to [-10, 10], so x^3 cannot overflow; beyond, tanh(u) is -1 or 1 in every dtype.
  template <class T>
  HG_HD static T bounded(T x) {
    return minimum(maximum(x, T(-10)), T(10));
  }
  template <class T>
  HG_HD static T tanh_u(T x) {
    const T z = bounded(x);
    return tanh(T(kScale) * z * multiply_add(T(kCubic) * z, z, T(1)));
  }
  template <class T>
  HG_HD static T value(T x) {
    return x * (T(0.5) * (T(1) + tanh_u(x)));
  }
  template <class T>
  HG_HD static T slope(T x) {
    const T t = tanh_u(x);
    const T z = bounded(x);
    const T du = T(kScale) * multiply_add(T(3 * kCubic) * z, z, T(1));
    return multiply_add(T(0.5) * z * multiply_add(-t, t, T(1)), du, T(0.5) * (T(1) + t));
  }
};

}  // namespace halfgrad::math
