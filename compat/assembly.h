#pragma once

#include <halfgrad/compat/names.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <halfgrad/autograd/tensor.h>

/// libtorch's rarer functions that put tensors together. Gradients reach all operands.
namespace halfgrad {

/// The powers of a vector [n] as a matrix [n, N], N = n by default: x^(N-1), ..., x, 1 in each row,
/// or the reverse with `increasing`. Throws std::invalid_argument for other shapes and N < 0.
Tensor vander(const Tensor& x, std::optional<std::int64_t> N = std::nullopt,  // NOLINT
              bool increasing = false);
/// The matrices in the blocks of a diagonal, with zeros elsewhere. A vector counts as a row, a
/// 0-dimensional tensor as a matrix of one element.
Tensor block_diag(const std::vector<Tensor>& tensors);

// Copies of self with `src` in the part that select(), slice() and diagonal() return. Throw
// std::invalid_argument unless `src` has its shape.
Tensor select_scatter(const Tensor& self, const Tensor& src, std::int64_t dim, std::int64_t index);
Tensor slice_scatter(const Tensor& self, const Tensor& src, std::int64_t dim = 0,
                     std::optional<std::int64_t> start = std::nullopt,
                     std::optional<std::int64_t> end = std::nullopt, std::int64_t step = 1);
Tensor diagonal_scatter(const Tensor& self, const Tensor& src, std::int64_t offset = 0,
                        std::int64_t dim1 = 0, std::int64_t dim2 = 1);

namespace utils {

/// The elements of all tensors, one after the other: [total]. Throws std::invalid_argument for no
/// tensor.
Tensor flatten_dense_tensors(const std::vector<Tensor>& tensors);
/// Views of consecutive parts of `flat` with the shapes of `tensors`. Throws std::invalid_argument
/// unless `flat` has as many elements as all of them.
std::vector<Tensor> unflatten_dense_tensors(const Tensor& flat, const std::vector<Tensor>& tensors);

}  // namespace utils

namespace nn::utils::rnn {

/// Sequences [length_i, ...] in one tensor [longest, n, ...], or [n, longest, ...] with
/// `batch_first`. padding_value is behind each sequence, or before it if padding_side is "left".
/// Throws std::invalid_argument for no sequence, and for other sides.
Tensor pad_sequence(const std::vector<Tensor>& sequences, bool batch_first = false,
                    double padding_value = 0, std::string_view padding_side = "right");

}  // namespace nn::utils::rnn
}  // namespace halfgrad
