#pragma once

#include <halfgrad/core/dual.h>

namespace halfgrad::detail {

/// 1 / (1 + e^-x), without overflow in the value or in a Dual's derivative. Selects -x or x instead
/// of -abs(x), whose derivative at 0 is 0.
template <class T>
HG_HD T logistic(T x) {
  const T e = math::exp(select(x >= T(0), -x, x));
  return select(x >= T(0), T(1), e) / (T(1) + e);
}

}  // namespace halfgrad::detail
