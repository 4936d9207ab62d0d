#pragma once

#include <halfgrad/autograd/graph/elementwise_op.h>
#include <halfgrad/core/math/math.h>

namespace halfgrad::detail {

/// y = max(x, 0), elementwise; NaN for NaN
/// dy/dx = 0 for y <= 0, else 1, also for NaN
struct Relu : ElementwiseDefaults {
  static constexpr auto name = "relu";
  static constexpr unsigned saves = kSavesOutput;
  static constexpr bool masks_gradient = true;
  static constexpr bool integers = true;
  static constexpr double low = -4, high = 4, roundoffs = 0;

  template <class T>
  HG_HD T value(T x) const {
    return math::maximum(x, T(0));
  }
  template <class T>
  HG_HD T slope(T, T y) const {
    return select(y <= T(0), T(0), T(1));
  }
  static double reference(double x) { return x < 0 ? 0 : x; }
};

}  // namespace halfgrad::detail
