#pragma once

#include <halfgrad/autograd/ops.h>

/// Places and values of scatter() and scatter_reduce().
namespace halfgrad::detail {

/// Returns a 0-dimensional tensor as a vector of one element.
Tensor with_dimension(const Tensor& t);
/// Returns the position in the flattened self that each element of the index refers to: int64 [n].
Tensor flat_positions(const Tensor& self, int dim, const Tensor& index);
/// Returns the elements of `src` that the index has a place for, flattened.
Tensor scattered_values(const Tensor& index, const Tensor& src);

}  // namespace halfgrad::detail
