#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>

#include <halfgrad/autograd/dims.h>
#include <halfgrad/autograd/reductions.h>
#include <halfgrad/autograd/tensor.h>

/// Order statistics, sums without NaN, counts and distances, composed of the ops of ops.h. Along a
/// dimension the first element of a pair is the values, the second one their indices (int64), and
/// gradients flow to the elements at these indices. NaN is above infinity. All throw
/// std::out_of_range for a dimension that `self` does not have.
namespace halfgrad {

/// The element in the middle of the sorted elements, the lower of two; NaN if there is one. It is
/// NaN for no elements, and its gradient is shared by all elements equal to it. Throws
/// std::invalid_argument for an empty tensor of integers.
Tensor median(const Tensor& self);
/// The median along `dim`. Throws std::invalid_argument for a dimension of size 0.
std::tuple<Tensor, Tensor> median(const Tensor& self, std::int64_t dim, bool keepdim = false);
/// The k-th smallest element along `dim`, from k = 1 on. Throws std::invalid_argument unless
/// 1 <= k <= size(dim).
std::tuple<Tensor, Tensor> kthvalue(const Tensor& self, std::int64_t k, std::int64_t dim = -1,
                                    bool keepdim = false);
/// The most frequent element along `dim`, the smallest of several, and its last index. A NaN
/// differs from every element. Throws std::invalid_argument for a dimension of size 0.
std::tuple<Tensor, Tensor> mode(const Tensor& self, std::int64_t dim = -1, bool keepdim = false);

/// The q-quantile, of all elements or along `dim`: a vector q adds a first dimension of its size.
/// The element has index q (n - 1) in the sorted order. `interpolation` says what lies between two
/// elements: "linear", "midpoint", or one of them by "lower", "higher" or "nearest". NaN if an
/// element is NaN. Gradients also flow to q for "linear". The host reads q, and waits for a GPU.
///
/// Throws std::invalid_argument if self is not float32 or float64 or has no elements to choose
/// from, for a q that is not floating point, of more than one dimension or outside [0, 1], and for
/// another interpolation.
Tensor quantile(const Tensor& self, const Tensor& q, std::optional<std::int64_t> dim = std::nullopt,
                bool keepdim = false, std::string_view interpolation = "linear");
Tensor quantile(const Tensor& self, double q, std::optional<std::int64_t> dim = std::nullopt,
                bool keepdim = false, std::string_view interpolation = "linear");

/// sum() of the elements that are not NaN. They get the gradient, and the others 0.
Tensor nansum(const Tensor& self, std::optional<DType> dtype = std::nullopt);
Tensor nansum(const Tensor& self, const Dims& dim, bool keepdim = false,
              std::optional<DType> dtype = std::nullopt);
template <DimIndex T>
Tensor nansum(const Tensor& self, T dim, bool keepdim = false,
              std::optional<DType> dtype = std::nullopt) {
  return nansum(self, Dims(static_cast<std::int64_t>(dim)), keepdim, dtype);
}
/// mean() of the elements that are not NaN; NaN if there are none. Throws std::invalid_argument
/// for integers, unless `dtype` is floating point.
Tensor nanmean(const Tensor& self, std::optional<DType> dtype = std::nullopt);
Tensor nanmean(const Tensor& self, const Dims& dim, bool keepdim = false,
               std::optional<DType> dtype = std::nullopt);
template <DimIndex T>
Tensor nanmean(const Tensor& self, T dim, bool keepdim = false,
               std::optional<DType> dtype = std::nullopt) {
  return nanmean(self, Dims(static_cast<std::int64_t>(dim)), keepdim, dtype);
}

/// amin() and amax(), of all elements or along `dim`.
std::tuple<Tensor, Tensor> aminmax(const Tensor& self,
                                   std::optional<std::int64_t> dim = std::nullopt,
                                   bool keepdim = false);
/// The count of elements that are not 0, of all or along `dim`: int64. NaN is not 0.
Tensor count_nonzero(const Tensor& self, const Dims& dim = {});
/// The covariances of the rows of `self` [variables, observations], or the variance of a vector: a
/// matrix, or a 0-dimensional tensor. `fweights` counts each observation, int64 [observations];
/// `aweights` weighs it. The sum of products is divided by the sum of weights less `correction`
/// (with aweights less `correction` times their weighted mean), or by 0 if that is negative.
/// Integers are computed in float32. Throws std::invalid_argument for more than two dimensions, and
/// for weights of another shape or dtype or below 0.
Tensor cov(const Tensor& self, std::int64_t correction = 1, const Tensor& fweights = {},
           const Tensor& aweights = {});
/// cov() divided by the standard deviations of both rows: in [-1, 1].
Tensor corrcoef(const Tensor& self);
/// The p-norms of the differences of all rows of x1 [..., n, d] and x2 [..., m, d]: [..., n, m].
/// The differences, n m d elements, are stored in backward, and in forward for a p other than 2.
/// Throws std::invalid_argument for integers, other shapes, and p < 0 or NaN.
Tensor cdist(const Tensor& x1, const Tensor& x2, double p = 2);

}  // namespace halfgrad
