#pragma once

#include <halfgrad/autograd/graph/elementwise_op.h>
#include <halfgrad/autograd/op_table/arithmetic.h>
#include <halfgrad/autograd/ops/shared/gelu_reference.h>
#include <halfgrad/core/math/gelu.h>

/// gelu as an elementwise op. The formulas are in core/math/gelu.h.
namespace halfgrad::detail {

template <class Formula>
struct GeluOf : ElementwiseDefaults {
  static constexpr auto name = "gelu";
  static constexpr double low = -6, high = 6, roundoffs = 4;

  template <class T>
  HG_HD T value(T x) const {
    return Formula::value(x);
  }
  template <class T>
  HG_HD T slope(T x, T) const {
    return Formula::slope(x);
  }
};

struct Gelu : GeluOf<math::ExactGelu> {
  static Bounded reference(const AnyArithmetic& a, const Bounded& x) {
    return gelu_reference(a, x);
  }
};

struct GeluTanh : GeluOf<math::TanhGelu> {
  static Bounded reference(const AnyArithmetic& a, const Bounded& x) {
    return gelu_tanh_reference(a, x);
  }
};

}  // namespace halfgrad::detail
