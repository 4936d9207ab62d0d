#pragma once

#include <cstdint>

#include <halfgrad/autograd/tensor.h>

/// cross_entropy of classes in one kernel forward and one backward, which also do the casts.
namespace halfgrad::detail {

/// Returns dx as differentiable ops; q [n, c] is 1 at the class of each row, 0 in ignored rows.
using ComposedGradient = Tensor (*)(const Tensor& dloss, const Tensor& x, const Tensor& q);

/// The mean or the sum of the losses of logits x [n, c], in `result`, float32 for 16-bit logits or
/// x's dtype. Backward needs x itself, not a copy in float32: changing x in place before is an
/// error. `composed` is the gradient as differentiable ops: see cross_entropy.cpp. Returns an
/// undefined tensor for operands that the kernels do not take.
Tensor class_total_loss(const Tensor& x, const Tensor& target, std::int64_t ignore_index, bool mean,
                        DType result, ComposedGradient composed);

}  // namespace halfgrad::detail
