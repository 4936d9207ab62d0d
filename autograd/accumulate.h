#pragma once

#include <halfgrad/autograd/grad_scale.h>
#include <halfgrad/autograd/tensor.h>

/// How backward adds gradients up: in place where nobody else can see the numbers and no graph is
/// created, else as ops.
namespace halfgrad::detail {

/// total += gradient, where an undefined total is zero.
void accumulate(Tensor& total, Tensor&& gradient);

/// Broadcasting and casts need no backward of their own: a gradient is summed to the shape, and
/// cast to the dtype, of what it is the gradient of. `op` is whose backward it comes from.
void conform(Tensor& gradient, const Shape& sizes, DType dtype, Device device, const char* op);

/// Adds to the leaf's grad. Several threads may do so at once.
void accumulate_into_leaf(TensorImpl& leaf, Tensor gradient, ScaleId scale);

}  // namespace halfgrad::detail
