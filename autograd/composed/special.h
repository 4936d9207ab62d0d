#pragma once

#include <cstdint>

#include <halfgrad/autograd/tensor.h>

/// Functions of probability theory, composed of the ops of ops.h. Results are computed in float64
/// and rounded once to the dtype of the operand; integers become float32. They are differentiable
/// as often as you like.
namespace halfgrad {

/// 1 - erf(x), without cancellation for large x.
Tensor erfc(const Tensor& self);
/// The x with erf(x) = self: NaN outside [-1, 1], infinite at its ends.
Tensor erfinv(const Tensor& self);
/// log |Gamma(x)|: infinity at 0, -1, -2, ...
Tensor lgamma(const Tensor& self);
/// The derivative of lgamma(): -infinity at 0, infinity at -0, NaN at -1, -2, ...
Tensor digamma(const Tensor& self);
/// The derivative number n of digamma(). At 0, -1, -2, ... it is infinite, with the sign of
/// (-1)^(n + 1), for n >= 1. Throws std::invalid_argument for a negative n.
Tensor polygamma(std::int64_t n, const Tensor& self);

}  // namespace halfgrad
