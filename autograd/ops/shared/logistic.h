#pragma once

#include <halfgrad/autograd/op_table/arithmetic.h>
#include <halfgrad/core/math/dual.h>

namespace halfgrad::detail {

/// 1 / (1 + e^-x), without overflow in the value or in a Dual's derivative. Selects -x or x instead
/// of -abs(x), whose derivative at 0 is 0.
template <class T>
HG_HD T logistic(T x) {
  const T e = math::exp(select(x >= T(0), -x, x));
  return select(x >= T(0), T(1), e) / (T(1) + e);
}

/// The reference: e^x / (1 + e^x) for x < 0. PyTorch's kernels compute 1 / (1 + e^-x) there too,
/// whose e^-x may overflow if the result is subnormal.
inline Bounded logistic_reference(const AnyArithmetic& a, Bounded x) {
  const Bounded one = a.number(1), e = a.exp(a.neg(a.abs(x)));
  const Bounded y = a.div(x.value < 0 ? e : one, a.add(one, e));
  return a.or_zero_if_reciprocal_overflows(y);
}

}  // namespace halfgrad::detail
