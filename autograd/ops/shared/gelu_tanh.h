#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include <halfgrad/autograd/graph/elementwise_op.h>
#include <halfgrad/autograd/op_table/arithmetic.h>
#include <halfgrad/core/math/math.h>

namespace halfgrad::detail {

/// y = x (1 + tanh(u)) / 2,  u = sqrt(2 / pi) (x + 0.044715 x^3), elementwise
/// dy/dx = (1 + tanh(u)) / 2 + x / 2 (1 - tanh(u)^2) du/dx
struct GeluTanh : ElementwiseDefaults {
  static constexpr auto name = "gelu";
  static constexpr double low = -6, high = 6, roundoffs = 4;
  static constexpr double kScale = 0.79788456080286536;  // sqrt(2 / pi)
  static constexpr double kCubic = 0.044715;

  /// x clamped to [-10, 10], so x^3 cannot overflow; beyond, tanh(u) is -1 or 1 in every dtype.
  template <class T>
  HG_HD static T bounded(T x) {
    return math::minimum(math::maximum(x, T(-10)), T(10));
  }
  template <class T>
  HG_HD static T tanh_u(T x) {
    const T z = bounded(x);
    return math::tanh(T(kScale) * z * (T(1) + T(kCubic) * z * z));
  }
  template <class T>
  HG_HD T value(T x) const {
    return x * (T(0.5) * (T(1) + tanh_u(x)));
  }
  template <class T>
  HG_HD T slope(T x, T) const {
    const T t = tanh_u(x);
    const T z = bounded(x);
    const T du = T(kScale) * (T(1) + T(3 * kCubic) * z * z);
    return T(0.5) * (T(1) + t) + T(0.5) * z * (T(1) - t * t) * du;
  }
  /// 1 + tanh(u) = 2 / (1 + e^-2u). Where |x| > 10 the tanh is 1 or -1 in any dtype, and x^3 may
  /// overflow.
  static Bounded reference(const AnyArithmetic& a, Bounded argument) {
    const Bounded z = a.clamp(argument, -10, 10), one = a.number(1);
    const Bounded cubic = a.mul(a.constant(kCubic), a.mul(z, a.mul(z, z)));
    const Bounded u = a.mul(a.constant(std::sqrt(2 / std::numbers::pi)), a.add(z, cubic));
    const Bounded e = a.exp(a.mul(a.number(-2), u));
    const Bounded twice = a.either(a.div(a.number(2), a.add(one, e)), a.add(one, a.tanh(u)));
    const Bounded x = a.clamp(argument, -10, std::numeric_limits<double>::infinity());
    return a.mul(x, a.mul(a.number(0.5), twice));
  }
};

}  // namespace halfgrad::detail
