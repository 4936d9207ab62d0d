#pragma once

#include <cmath>
#include <limits>
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

/// The tanh approximation of gelu is x (1 + tanh(u)) / 2 with u = kGeluScale (x + kGeluCubic x^3).
inline constexpr double kGeluScale = 0.79788456080286536;  // sqrt(2 / pi)
inline constexpr double kGeluCubic = 0.044715;

/// 1 + tanh(u) = 2 / (1 + e^-2u). Where |x| > 10 the tanh is 1 or -1 in any dtype, and x^3 may
/// overflow.
inline Bounded gelu_tanh_reference(const AnyArithmetic& a, const Bounded& argument) {
  const Bounded z = a.clamp(argument, -10, 10), one = a.number(1);
  const Bounded cubic = a.mul(a.constant(kGeluCubic), a.mul(z, a.mul(z, z)));
  const Bounded u = a.mul(a.constant(std::sqrt(2 / std::numbers::pi)), a.add(z, cubic));
  const Bounded e = a.exp(a.mul(a.number(-2), u));
  const Bounded twice = a.either(a.div(a.number(2), a.add(one, e)), a.add(one, a.tanh(u)));
  const Bounded x = a.clamp(argument, -10, std::numeric_limits<double>::infinity());
  return a.mul(x, a.mul(a.number(0.5), twice));
}

}  // namespace halfgrad::detail
