#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <tuple>

#include <halfgrad/autograd/tensor.h>

/// The ops for which it matters what stands before what along a dimension, and draws; topk and
/// argsort live in ops/sort.cpp, the others in ops/<name>.cpp.
namespace halfgrad {

/// Values and indices (int64) in order. NaN is above infinity, 0 equals -0, and equal numbers keep
/// their order: sorting is always stable, asked for or not. Gradients flow through the values.
std::tuple<Tensor, Tensor> sort(const Tensor& self, std::int64_t dim = -1, bool descending = false);
std::tuple<Tensor, Tensor> sort(const Tensor& self, std::same_as<bool> auto /*stable*/,
                                std::int64_t dim = -1, bool descending = false) {
  return sort(self, dim, descending);
}
/// The indices alone.
Tensor argsort(const Tensor& self, std::int64_t dim = -1, bool descending = false);
Tensor argsort(const Tensor& self, std::same_as<bool> auto /*stable*/, std::int64_t dim = -1,
               bool descending = false) {
  return argsort(self, dim, descending);
}
/// The first k that sort() gives, so `sorted` in any case, and of equal numbers the first ones.
/// Throws std::invalid_argument for k below 0 and above the size of `dim`.
std::tuple<Tensor, Tensor> topk(const Tensor& self, std::int64_t k, std::int64_t dim = -1,
                                bool largest = true, bool sorted = true);

/// y_i = x_0 + x_1 + ... + x_i along `dim`, of dtype `dtype`, to which x is converted first;
/// without one x's, int64 of integers. Floats are added in double, one after the other, and each
/// y_i rounded once.
Tensor cumsum(const Tensor& self, std::int64_t dim, std::optional<DType> dtype = std::nullopt);

/// Indices drawn with probabilities in proportion to `self`, floating point [n] or [rows, n]: int64
/// [num_samples] or [rows, num_samples], in the order of the draws. Takes one key of the default
/// generator; the same key gives the same indices on every device.
///
/// Throws std::invalid_argument for other dtypes and shapes, for num_samples below 1, and without
/// replacement above n; on the CPU also for probabilities below 0, infinite or NaN, for a row with
/// none above 0, and without replacement for one with fewer than num_samples above 0. A GPU does
/// not look, because the host would wait: there such a row gives indices in [0, n) that mean
/// nothing.
Tensor multinomial(const Tensor& self, std::int64_t num_samples, bool replacement = false);

}  // namespace halfgrad
