#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <halfgrad/autograd/creation_options.h>
#include <halfgrad/autograd/dims.h>
#include <halfgrad/autograd/tensor.h>

/// Functions that move, join, split, repeat and pick elements, composed of the ops of ops.h, which
/// define their gradients. Names, argument order and semantics are libtorch's. Every dtype is
/// possible, and every dim may be negative (counted from the end).
///
/// All throw std::invalid_argument for shapes and counts that do not fit, and std::out_of_range for
/// a dimension or an index out of range.
namespace halfgrad {

// --- Dimensions (composed/moving.cpp): views ---
/// The dimension `source` comes to the position `destination`, or each source[i] to destination[i].
/// The others keep their order.
Tensor movedim(const Tensor& self, const Shape& source, const Shape& destination);
Tensor movedim(const Tensor& self, std::int64_t source, std::int64_t destination);
Tensor moveaxis(const Tensor& self, const Shape& source, const Shape& destination);
Tensor moveaxis(const Tensor& self, std::int64_t source, std::int64_t destination);
/// transpose() by NumPy's names.
Tensor swapaxes(const Tensor& self, std::int64_t axis0, std::int64_t axis1);
Tensor swapdims(const Tensor& self, std::int64_t dim0, std::int64_t dim1);
/// Replaces a dimension by several of these sizes. One size may be -1: it is the size that fits.
Tensor unflatten(const Tensor& self, std::int64_t dim, const Shape& sizes);
/// All windows of `size` elements along a dimension, `step` apart: a new last dimension runs along
/// the window, and `dimension` over the windows. A tensor without dimensions counts as one element.
Tensor unfold(const Tensor& self, std::int64_t dimension, std::int64_t size, std::int64_t step);
/// Tensors of at least 1, 2 or 3 dimensions, others unchanged. atleast_2d: [n] becomes [1, n].
/// atleast_3d: [n] becomes [1, n, 1], and [n, m] becomes [n, m, 1].
Tensor atleast_1d(const Tensor& self);
Tensor atleast_2d(const Tensor& self);
Tensor atleast_3d(const Tensor& self);
std::vector<Tensor> atleast_1d(const std::vector<Tensor>& tensors);
std::vector<Tensor> atleast_2d(const std::vector<Tensor>& tensors);
std::vector<Tensor> atleast_3d(const std::vector<Tensor>& tensors);

// --- Flips (composed/moving.cpp): copies ---
/// Reverses dimension 1 (fliplr, [n, m, ...]) or dimension 0 (flipud, [n, ...]).
Tensor fliplr(const Tensor& self);
Tensor flipud(const Tensor& self);
/// Turns the plane of two dimensions by k quarter turns, from dims[0] to dims[1].
Tensor rot90(const Tensor& self, std::int64_t k = 1, const Dims& dims = {0, 1});

// --- Joins (composed/joining.cpp): copies; dtypes promote and shapes fit as in cat() ---
/// Joins along dimension 1, vectors along dimension 0.
Tensor hstack(const std::vector<Tensor>& tensors);
/// Joins along dimension 0; a vector [n] counts as a row [1, n]. row_stack is the same function.
Tensor vstack(const std::vector<Tensor>& tensors);
Tensor row_stack(const std::vector<Tensor>& tensors);
/// Joins along dimension 2, after atleast_3d().
Tensor dstack(const std::vector<Tensor>& tensors);
/// Joins along dimension 1; a vector [n] counts as a column [n, 1].
Tensor column_stack(const std::vector<Tensor>& tensors);

// --- Parts (composed/joining.cpp): views ---
/// Parts along `dim`: `sections` ones, whose sizes differ by at most one, larger ones first; or
/// those between `indices`, which are read as the bounds of slice().
std::vector<Tensor> tensor_split(const Tensor& self, std::int64_t sections, std::int64_t dim = 0);
std::vector<Tensor> tensor_split(const Tensor& self, const std::vector<std::int64_t>& indices,
                                 std::int64_t dim = 0);
/// tensor_split() along dimension 1 (hsplit; 0 for a vector), 0 (vsplit) or 2 (dsplit). The size
/// must be divisible by `sections`.
std::vector<Tensor> hsplit(const Tensor& self, std::int64_t sections);
std::vector<Tensor> hsplit(const Tensor& self, const std::vector<std::int64_t>& indices);
std::vector<Tensor> vsplit(const Tensor& self, std::int64_t sections);
std::vector<Tensor> vsplit(const Tensor& self, const std::vector<std::int64_t>& indices);
std::vector<Tensor> dsplit(const Tensor& self, std::int64_t sections);
std::vector<Tensor> dsplit(const Tensor& self, const std::vector<std::int64_t>& indices);

// --- Broadcasting (composed/grids.cpp): views that repeat elements ---
/// expand() by NumPy's name.
Tensor broadcast_to(const Tensor& self, const Shape& sizes);
/// Expands all tensors to the shape to which they broadcast.
std::vector<Tensor> broadcast_tensors(const std::vector<Tensor>& tensors);
/// Coordinate grids: the i-th result [n_0, n_1, ...] varies along dimension i with the elements of
/// the i-th tensor [n_i] or []. Indexing "xy" exchanges the first two dimensions of all results.
/// All tensors must have one dtype and one device.
std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, std::string_view indexing = "ij");
/// All combinations of one element of each vector: [n_0 n_1 ..., count], in lexicographic order of
/// positions. A single vector is returned itself.
Tensor cartesian_prod(const std::vector<Tensor>& tensors);
/// All choices of r elements of a vector: [count, r], in lexicographic order of positions. With r 0
/// the result has the shape [0].
Tensor combinations(const Tensor& self, std::int64_t r = 2, bool with_replacement = false);

// --- Repeats (composed/repeating.cpp): copies ---
/// repeat() with ones in front of `dims` if it is shorter than self.sizes().
Tensor tile(const Tensor& self, const Shape& dims);
/// Repeats each element along `dim`, or each of the flattened tensor. Throws std::invalid_argument
/// if output_size is not the size of the result along `dim`.
Tensor repeat_interleave(const Tensor& self, std::int64_t repeats,
                         std::optional<std::int64_t> dim = std::nullopt,
                         std::optional<std::int64_t> output_size = std::nullopt);
/// Repeats element i along `dim` repeats[i] times. `repeats` is int64 or int32, [size(dim)], or one
/// element for all. The host waits for the device of `repeats`.
Tensor repeat_interleave(const Tensor& self, const Tensor& repeats,
                         std::optional<std::int64_t> dim = std::nullopt,
                         std::optional<std::int64_t> output_size = std::nullopt);
/// Returns each i repeats[i] times, with the dtype of `repeats` [n]: int64 or int32. As in
/// libtorch, the output_size must be an optional: an integer selects the first overload.
Tensor repeat_interleave(const Tensor& repeats,
                         std::optional<std::int64_t> output_size = std::nullopt);

// --- Diagonals and triangles (composed/triangles.cpp): copies ---
/// Matrices in dim1 and dim2, zero except for diagonal `offset`, on which are the elements along
/// the last dimension: [..., n] becomes [..., n + |offset|, n + |offset|].
Tensor diag_embed(const Tensor& self, std::int64_t offset = 0, std::int64_t dim1 = -2,
                  std::int64_t dim2 = -1);
/// The matrix with the elements of the flattened tensor on diagonal `offset`.
Tensor diagflat(const Tensor& self, std::int64_t offset = 0);
/// Rows and columns of the elements that tril() or triu() of a matrix [row, col] keeps, in
/// row-major order: [2, count]. dtype when absent: int64.
Tensor tril_indices(std::int64_t row, std::int64_t col, std::int64_t offset = 0,
                    const CreationOptions& options = {});
Tensor triu_indices(std::int64_t row, std::int64_t col, std::int64_t offset = 0,
                    const CreationOptions& options = {});
Tensor tril_indices(std::int64_t row, std::int64_t col, std::int64_t offset,
                    detail::OneOption auto option) {
  return tril_indices(row, col, offset, detail::only(option));
}
Tensor triu_indices(std::int64_t row, std::int64_t col, std::int64_t offset,
                    detail::OneOption auto option) {
  return triu_indices(row, col, offset, detail::only(option));
}

// --- Picks (composed/picking.cpp): copies; indices are int64 or int32 ---
/// Elements of the flattened tensor, in the shape of the index. Negative indices count from the
/// end.
Tensor take(const Tensor& self, const Tensor& index);
/// gather() whose operands broadcast in all dimensions but `dim`. Without `dim`, elements of the
/// flattened tensor in the order of the flattened indices.
Tensor take_along_dim(const Tensor& self, const Tensor& indices,
                      std::optional<std::int64_t> dim = std::nullopt);

}  // namespace halfgrad
