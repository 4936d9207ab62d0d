#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <halfgrad/autograd/tensor.h>

/// Copies of a tensor with some elements replaced or increased (composed/writing.cpp), composed of
/// the ops of ops.h. Names, argument order and semantics are libtorch's; self is not changed.
/// Gradients reach self and the written values: an element that is overwritten gets 0.
///
/// Indices are int64 or int32. They may be negative (counted from the end) in index_fill only. All
/// functions throw std::invalid_argument for shapes and dtypes that do not fit, and
/// std::out_of_range for an index out of range. self and source must have one dtype.
namespace halfgrad {

/// Does y[index[i][j]][j] = src[i][j] for dim 0, and likewise for other dims, or writes `value`.
/// The index has as many dimensions as self, and sizes up to those of src and, except along `dim`,
/// of self. Of several values for one element the last one in row-major order stays.
Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src);
Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, Scalar value);

/// Combines the elements of `src` for one place with each other, and with that element of self if
/// include_self: by "sum", "prod", "mean", "amax" or "amin". Places without an element of `src`
/// keep self. A mean of integers is rounded down. The gradient of an extremum is shared by all
/// elements that are equal to it. "prod", "amax" and "amin" make the host wait for the device.
Tensor scatter_reduce(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src,
                      std::string_view reduce, bool include_self = true);
/// scatter_reduce() by libtorch's former names: `reduce` is "add" or "multiply".
Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src,
               std::string_view reduce);
Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, Scalar value,
               std::string_view reduce);

/// Adds alpha * slice i of `source` to slice index[i] of self, along `dim`, in the order of i. The
/// index is [n] or []. Throws std::invalid_argument for an alpha of floating point with integers.
Tensor index_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source,
                 Scalar alpha = 1);
/// Writes slice i of `source` into slice index[i], along `dim`. Of several slices for one the last
/// one stays.
Tensor index_copy(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source);
/// Fills the slices that the index lists, along `dim`. A `value` that is a tensor is 0-dimensional
/// and converted to self's dtype; if that is another dtype, the host waits for the device. Throws
/// std::invalid_argument for a value outside the range of self's dtype.
Tensor index_fill(const Tensor& self, std::int64_t dim, const Tensor& index, Scalar value);
Tensor index_fill(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& value);

/// Fills the elements of self where the bool mask is true with a `value` that is a tensor, as
/// index_fill() does. self and mask broadcast.
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value);

/// Writes the first elements of `source`, in row-major order, where the bool mask is true. self and
/// mask broadcast. The host waits for the device. Throws std::invalid_argument if `source` has
/// fewer elements than the mask has true ones.
Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source);

/// A copy of self after index_put_(). Autocast gives it the wider dtype of self and values.
Tensor index_put(const Tensor& self, const std::vector<indexing::TensorIndex>& indices,
                 const Tensor& values, bool accumulate = false);

}  // namespace halfgrad
