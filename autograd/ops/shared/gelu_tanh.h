#pragma once

#include <halfgrad/autograd/graph/elementwise_op.h>
#include <halfgrad/autograd/op_table/arithmetic.h>
#include <halfgrad/autograd/ops/shared/gelu_reference.h>
#include <halfgrad/core/math/math.h>

namespace halfgrad::detail {

/// y = x (1 + tanh(u)) / 2,  u = sqrt(2 / pi) (x + 0.044715 x^3), elementwise
/// dy/dx = (1 + tanh(u)) / 2 + x / 2 (1 - tanh(u)^2) du/dx
struct GeluTanh : ElementwiseDefaults {
  static constexpr auto name = "gelu";
  static constexpr double low = -6, high = 6, roundoffs = 4;

  /// x clamped to [-10, 10], so x^3 cannot overflow; beyond, tanh(u) is -1 or 1 in every dtype.
  template <class T>
  HG_HD static T bounded(T x) {
    return math::minimum(math::maximum(x, T(-10)), T(10));
  }
  template <class T>
  HG_HD static T tanh_u(T x) {
    const T z = bounded(x);
    return math::tanh(T(kGeluScale) * z * (T(1) + T(kGeluCubic) * z * z));
  }
  template <class T>
  HG_HD T value(T x) const {
    return x * (T(0.5) * (T(1) + tanh_u(x)));
  }
  template <class T>
  HG_HD T slope(T x, T) const {
    const T t = tanh_u(x);
    const T z = bounded(x);
    const T du = T(kGeluScale) * (T(1) + T(3 * kGeluCubic) * z * z);
    return T(0.5) * (T(1) + t) + T(0.5) * z * (T(1) - t * t) * du;
  }
  static Bounded reference(const AnyArithmetic& a, const Bounded& x) {
    return gelu_tanh_reference(a, x);
  }
};

}  // namespace halfgrad::detail
