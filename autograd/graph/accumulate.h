#pragma once

#include <span>

#include <halfgrad/autograd/graph/grad_scale.h>
#include <halfgrad/autograd/tensor.h>

/// Sums of gradients during backward. They are in place if no graph is being created and nothing
/// else refers to the memory, and ops otherwise.
namespace halfgrad::detail {

/// total += gradient. An undefined total counts as zero.
void accumulate(Tensor& total, Tensor&& gradient);

/// Throws std::runtime_error if a gradient that `op` made has a NaN: anomaly mode. Waits for a GPU.
void refuse_nan(const char* op, std::span<const Tensor> gradients);

/// Sums `gradient` to the shape, and casts it to the dtype, of the tensor that it belongs to. This
/// is the backward of broadcasting and of casts. `op` names the op whose backward made it, for
/// errors.
void conform(Tensor& gradient, const Shape& sizes, DType dtype, Device device, const char* op);

/// Does the same for the gradient of a leaf. With `may_stay_narrow`, the gradient of a float32 leaf
/// stays narrow (narrow_gradient.h), unless a graph is being created.
void conform_to_leaf(Tensor& gradient, const TensorImpl& leaf, bool may_stay_narrow,
                     const char* op);

/// Adds `gradient` to the leaf's grad. Safe to call from several threads at once.
void accumulate_into_leaf(TensorImpl& leaf, Tensor gradient, ScaleId scale);

}  // namespace halfgrad::detail
