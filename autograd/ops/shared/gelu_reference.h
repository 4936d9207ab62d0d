#pragma once

#include <numbers>

#include <halfgrad/autograd/op_table/arithmetic.h>

namespace halfgrad::detail {

/// Phi(x) = erfc(-x / sqrt(2)) / 2 is exact for every x. PyTorch's kernels compute (1 + erf) / 2,
/// whose error for negative x is a roundoff of 1.
inline Bounded normal_cdf_reference(const AnyArithmetic& a, const Bounded& x) {
  const Bounded z = a.mul(x, a.constant(1 / std::numbers::sqrt2));
  const Bounded twice = a.either(a.erfc(a.neg(z)), a.add(a.number(1), a.erf(z)));
  return a.mul(a.number(0.5), twice);
}

/// x Phi(x)
inline Bounded gelu_reference(const AnyArithmetic& a, const Bounded& x) {
  return a.mul(x, normal_cdf_reference(a, x));
}

}  // namespace halfgrad::detail
