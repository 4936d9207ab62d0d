#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <tuple>

#include <halfgrad/autograd/tensor.h>

/// Sorting, running sums and random draws. topk and argsort are in ops/sort.cpp, the others in
/// `ops/<name>.cpp`.
namespace halfgrad {

/// Returns sorted values and their indices (int64). NaN is above infinity, 0 equals -0, and equal
/// values keep their order: sorting is always stable. Gradients flow through the values.
std::tuple<Tensor, Tensor> sort(const Tensor& self, std::int64_t dim = -1, bool descending = false);
std::tuple<Tensor, Tensor> sort(const Tensor& self, std::same_as<bool> auto /*stable*/,
                                std::int64_t dim = -1, bool descending = false) {
  return sort(self, dim, descending);
}
/// Returns the indices of sort() alone.
Tensor argsort(const Tensor& self, std::int64_t dim = -1, bool descending = false);
Tensor argsort(const Tensor& self, std::same_as<bool> auto /*stable*/, std::int64_t dim = -1,
               bool descending = false) {
  return argsort(self, dim, descending);
}
/// Returns the first k of sort(), so the result is sorted for any `sorted`, and of equal values the
/// first come first. Throws std::invalid_argument for k below 0 or above the size of `dim`.
std::tuple<Tensor, Tensor> topk(const Tensor& self, std::int64_t k, std::int64_t dim = -1,
                                bool largest = true, bool sorted = true);

/// y_i = x_0 + x_1 + ... + x_i along `dim`. x is converted to `dtype` first; by default it keeps
/// its dtype, and integers become int64. Floats are added in double, one after the other, and each
/// y_i is rounded once.
Tensor cumsum(const Tensor& self, std::int64_t dim, std::optional<DType> dtype = std::nullopt);

/// Indices drawn with probabilities in proportion to `self`, floating point [n] or [rows, n]: int64
/// [num_samples] or [rows, num_samples], in the order of the draws. Takes one key of the default
/// generator; the same key gives the same indices on every device.
///
/// Throws std::invalid_argument for other dtypes and shapes, and for num_samples below 1 or,
/// without replacement, above n. On the CPU it also throws for probabilities that are negative,
/// infinite or NaN, and for a row with too few of them above 0: none or, without replacement, fewer
/// than num_samples. On a GPU probabilities are not checked, because the host would have to wait:
/// such a row gives arbitrary indices in [0, n).
Tensor multinomial(const Tensor& self, std::int64_t num_samples, bool replacement = false);

}  // namespace halfgrad
