#pragma once

#include <halfgrad/autograd/tensor.h>

namespace halfgrad::detail {

/// Returns a copy of `self` in which source[..., j, ...] is added to self[..., index[j], ...] along
/// `dim`, in the order of j, rounded once per element. `index` is int64 [n] with values within the
/// dimension; `source` has the dtype of `self`, and its sizes but for n along `dim`.
Tensor add_slices(const Tensor& self, int dim, const Tensor& index, const Tensor& source);

}  // namespace halfgrad::detail
