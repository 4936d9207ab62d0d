#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <tuple>

#include <halfgrad/autograd/tensor.h>

/// Reductions, each in `ops/<name>.cpp`; var and std are in variance.cpp, amax in max.cpp. Without
/// dims they reduce all dimensions.
namespace halfgrad {

/// An integer that names a dimension: a bool does not.
template <class T>
concept DimIndex = std::integral<T> && !std::same_as<T, bool>;

Tensor sum(const Tensor& self, std::optional<DType> dtype = std::nullopt);
Tensor sum(const Tensor& self, const Shape& dim, bool keepdim = false,
           std::optional<DType> dtype = std::nullopt);
/// Sums along one dimension: `sum(x, 0)`. The functions below have the same form.
template <DimIndex T>
Tensor sum(const Tensor& self, T dim, bool keepdim = false,
           std::optional<DType> dtype = std::nullopt) {
  return sum(self, Shape{static_cast<std::int64_t>(dim)}, keepdim, dtype);
}
/// Sums the dimensions along which `self` was broadcast from `sizes`.
Tensor sum_to_size(const Tensor& self, const Shape& sizes);
Tensor mean(const Tensor& self, std::optional<DType> dtype = std::nullopt);
Tensor mean(const Tensor& self, const Shape& dim, bool keepdim = false,
            std::optional<DType> dtype = std::nullopt);
template <DimIndex T>
Tensor mean(const Tensor& self, T dim, bool keepdim = false,
            std::optional<DType> dtype = std::nullopt) {
  return mean(self, Shape{static_cast<std::int64_t>(dim)}, keepdim, dtype);
}
Tensor prod(const Tensor& self, std::optional<DType> dtype = std::nullopt);
Tensor prod(const Tensor& self, std::int64_t dim, bool keepdim = false,
            std::optional<DType> dtype = std::nullopt);
/// var is sum (x - mean)^2 / (n - correction), and std its square root. `correction` is 1 when
/// absent; a bool is libtorch's `unbiased`, 1 or 0. If n <= correction the result is infinity, or
/// NaN if all elements are equal.
Tensor var(const Tensor& self, const Shape& dim = {},
           std::optional<Scalar> correction = std::nullopt, bool keepdim = false);
template <std::same_as<bool> T>
Tensor var(const Tensor& self, T unbiased) {
  return var(self, Shape(), unbiased);
}
template <DimIndex T>
Tensor var(const Tensor& self, T dim, std::optional<Scalar> correction = std::nullopt,
           bool keepdim = false) {
  return var(self, Shape{static_cast<std::int64_t>(dim)}, correction, keepdim);
}
Tensor std(const Tensor& self, const Shape& dim = {},
           std::optional<Scalar> correction = std::nullopt, bool keepdim = false);
template <std::same_as<bool> T>
Tensor std(const Tensor& self, T unbiased) {
  return std(self, Shape(), unbiased);
}
template <DimIndex T>
Tensor std(const Tensor& self, T dim, std::optional<Scalar> correction = std::nullopt,
           bool keepdim = false) {
  return std(self, Shape{static_cast<std::int64_t>(dim)}, correction, keepdim);
}
/// The variance (var_mean) or its root (std_mean), and the mean.
std::tuple<Tensor, Tensor> var_mean(const Tensor& self, const Shape& dim = {},
                                    std::optional<Scalar> correction = std::nullopt,
                                    bool keepdim = false);
std::tuple<Tensor, Tensor> std_mean(const Tensor& self, const Shape& dim = {},
                                    std::optional<Scalar> correction = std::nullopt,
                                    bool keepdim = false);
template <std::same_as<bool> T>
std::tuple<Tensor, Tensor> var_mean(const Tensor& self, T unbiased) {
  return var_mean(self, Shape(), unbiased);
}
template <std::same_as<bool> T>
std::tuple<Tensor, Tensor> std_mean(const Tensor& self, T unbiased) {
  return std_mean(self, Shape(), unbiased);
}
Tensor max(const Tensor& self);
Tensor min(const Tensor& self);
Tensor max(const Tensor& self, const Tensor& other);  // maximum(), minimum()
Tensor min(const Tensor& self, const Tensor& other);
/// Returns values and indices (int64): the first index if values are equal.
std::tuple<Tensor, Tensor> max(const Tensor& self, std::int64_t dim, bool keepdim = false);
std::tuple<Tensor, Tensor> min(const Tensor& self, std::int64_t dim, bool keepdim = false);
Tensor amax(const Tensor& self, const Shape& dim = {}, bool keepdim = false);
Tensor amin(const Tensor& self, const Shape& dim = {}, bool keepdim = false);
Tensor argmax(const Tensor& self, std::optional<std::int64_t> dim = std::nullopt,
              bool keepdim = false);
Tensor argmin(const Tensor& self, std::optional<std::int64_t> dim = std::nullopt,
              bool keepdim = false);
Tensor norm(const Tensor& self, Scalar p = 2);
Tensor norm(const Tensor& self, Scalar p, const Shape& dim, bool keepdim = false);
Tensor logsumexp(const Tensor& self, const Shape& dim, bool keepdim = false);
template <DimIndex T>
Tensor logsumexp(const Tensor& self, T dim, bool keepdim = false) {
  return logsumexp(self, Shape{static_cast<std::int64_t>(dim)}, keepdim);
}
/// The result is bool, or uint8 for a uint8 tensor.
Tensor all(const Tensor& self);
Tensor all(const Tensor& self, std::int64_t dim, bool keepdim = false);
Tensor any(const Tensor& self);
Tensor any(const Tensor& self, std::int64_t dim, bool keepdim = false);

}  // namespace halfgrad
