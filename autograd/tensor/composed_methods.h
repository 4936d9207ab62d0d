#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include <halfgrad/autograd/dims.h>
#include <halfgrad/autograd/tensor/tensor_in_place.h>
#include <halfgrad/core/dtype.h>
#include <halfgrad/core/shape.h>

namespace halfgrad {

class Tensor;

namespace detail {

/// The functions of composed.h as methods of Tensor, and in place where libtorch has that form.
class ComposedMethods : public InPlaceMethods {
 public:
  // --- composed/moving.h ---
  Tensor movedim(const Shape& source, const Shape& destination) const;
  Tensor movedim(std::int64_t source, std::int64_t destination) const;
  Tensor moveaxis(const Shape& source, const Shape& destination) const;
  Tensor moveaxis(std::int64_t source, std::int64_t destination) const;
  Tensor swapaxes(std::int64_t axis0, std::int64_t axis1) const;
  Tensor swapdims(std::int64_t dim0, std::int64_t dim1) const;
  Tensor unflatten(std::int64_t dim, const Shape& sizes) const;
  Tensor unfold(std::int64_t dimension, std::int64_t size, std::int64_t step) const;
  Tensor fliplr() const;
  Tensor flipud() const;
  Tensor rot90(std::int64_t k = 1, const Dims& dims = {0, 1}) const;
  std::vector<Tensor> tensor_split(std::int64_t sections, std::int64_t dim = 0) const;
  std::vector<Tensor> tensor_split(const std::vector<std::int64_t>& indices,
                                   std::int64_t dim = 0) const;
  std::vector<Tensor> hsplit(std::int64_t sections) const;
  std::vector<Tensor> hsplit(const std::vector<std::int64_t>& indices) const;
  std::vector<Tensor> vsplit(std::int64_t sections) const;
  std::vector<Tensor> vsplit(const std::vector<std::int64_t>& indices) const;
  std::vector<Tensor> dsplit(std::int64_t sections) const;
  std::vector<Tensor> dsplit(const std::vector<std::int64_t>& indices) const;
  /// The elements in row-major order, [numel]: a view if the strides allow it.
  Tensor ravel() const;
  Tensor broadcast_to(const Shape& sizes) const;
  Tensor tile(const Shape& dims) const;
  Tensor repeat_interleave(std::int64_t repeats, std::optional<std::int64_t> dim = std::nullopt,
                           std::optional<std::int64_t> output_size = std::nullopt) const;
  Tensor repeat_interleave(const Tensor& repeats, std::optional<std::int64_t> dim = std::nullopt,
                           std::optional<std::int64_t> output_size = std::nullopt) const;
  Tensor diag_embed(std::int64_t offset = 0, std::int64_t dim1 = -2, std::int64_t dim2 = -1) const;
  Tensor diagflat(std::int64_t offset = 0) const;
  Tensor take(const Tensor& index) const;
  Tensor take_along_dim(const Tensor& indices,
                        std::optional<std::int64_t> dim = std::nullopt) const;

  // --- composed/writing.h ---
  Tensor scatter(std::int64_t dim, const Tensor& index, const Tensor& src) const;
  Tensor scatter(std::int64_t dim, const Tensor& index, Scalar value) const;
  Tensor index_add(std::int64_t dim, const Tensor& index, const Tensor& source,
                   Scalar alpha = 1) const;
  Tensor index_copy(std::int64_t dim, const Tensor& index, const Tensor& source) const;
  Tensor index_fill(std::int64_t dim, const Tensor& index, Scalar value) const;
  Tensor index_fill(std::int64_t dim, const Tensor& index, const Tensor& value) const;
  Tensor masked_scatter(const Tensor& mask, const Tensor& source) const;
  Tensor& scatter_(std::int64_t dim, const Tensor& index, const Tensor& src) const;
  Tensor& scatter_(std::int64_t dim, const Tensor& index, Scalar value) const;
  Tensor& index_add_(std::int64_t dim, const Tensor& index, const Tensor& source,
                     Scalar alpha = 1) const;
  Tensor& index_copy_(std::int64_t dim, const Tensor& index, const Tensor& source) const;
  Tensor& index_fill_(std::int64_t dim, const Tensor& index, Scalar value) const;
  Tensor& index_fill_(std::int64_t dim, const Tensor& index, const Tensor& value) const;
  Tensor& masked_scatter_(const Tensor& mask, const Tensor& source) const;
  /// Fills the diagonal x_ii of a matrix, or the elements x_ii...i of a tensor of more dimensions
  /// of equal size. With `wrap` the diagonal of a tall matrix [n, m] begins again after every m + 1
  /// rows. Throws std::invalid_argument for other shapes.
  Tensor& fill_diagonal_(Scalar fill_value, bool wrap = false) const;
  Tensor scatter(std::int64_t dim, const Tensor& index, const Tensor& src,
                 std::string_view reduce) const;
  Tensor scatter(std::int64_t dim, const Tensor& index, Scalar value,
                 std::string_view reduce) const;
  Tensor& scatter_(std::int64_t dim, const Tensor& index, const Tensor& src,
                   std::string_view reduce) const;
  Tensor& scatter_(std::int64_t dim, const Tensor& index, Scalar value,
                   std::string_view reduce) const;
  Tensor scatter_reduce(std::int64_t dim, const Tensor& index, const Tensor& src,
                        std::string_view reduce, bool include_self = true) const;
  Tensor& scatter_reduce_(std::int64_t dim, const Tensor& index, const Tensor& src,
                          std::string_view reduce, bool include_self = true) const;

  // --- composed/statistics.h ---
  Tensor median() const;
  std::tuple<Tensor, Tensor> median(std::int64_t dim, bool keepdim = false) const;
  std::tuple<Tensor, Tensor> mode(std::int64_t dim = -1, bool keepdim = false) const;
  std::tuple<Tensor, Tensor> kthvalue(std::int64_t k, std::int64_t dim = -1,
                                      bool keepdim = false) const;
  Tensor quantile(double q, std::optional<std::int64_t> dim = std::nullopt,
                  bool keepdim = false) const;
  Tensor quantile(const Tensor& q, std::optional<std::int64_t> dim = std::nullopt,
                  bool keepdim = false) const;
  Tensor nansum() const;
  Tensor nansum(const Dims& dim, bool keepdim = false) const;
  Tensor nanmean() const;
  Tensor nanmean(const Dims& dim, bool keepdim = false) const;
  std::tuple<Tensor, Tensor> aminmax(std::optional<std::int64_t> dim = std::nullopt,
                                     bool keepdim = false) const;
  Tensor count_nonzero() const;
  Tensor count_nonzero(const Dims& dim) const;
  Tensor cov(std::int64_t correction = 1) const;
  Tensor cov(std::int64_t correction, const Tensor& fweights, const Tensor& aweights) const;
  Tensor corrcoef() const;
  /// The p-norm of the difference; only a method, because dist is a namespace.
  Tensor dist(const Tensor& other, Scalar p = 2) const;

  // --- composed/scans.h ---
  Tensor cumprod(std::int64_t dim, std::optional<DType> dtype = std::nullopt) const;
  std::tuple<Tensor, Tensor> cummax(std::int64_t dim) const;
  std::tuple<Tensor, Tensor> cummin(std::int64_t dim) const;
  Tensor logcumsumexp(std::int64_t dim) const;
  Tensor diff(std::int64_t n = 1, std::int64_t dim = -1) const;

  // --- composed/products.h ---
  Tensor addmv(const Tensor& mat, const Tensor& vec, Scalar beta = 1, Scalar alpha = 1) const;
  Tensor addr(const Tensor& vec1, const Tensor& vec2, Scalar beta = 1, Scalar alpha = 1) const;
  Tensor ger(const Tensor& vec2) const;
  Tensor inner(const Tensor& other) const;
  Tensor kron(const Tensor& other) const;
  Tensor matrix_power(std::int64_t n) const;
  Tensor vdot(const Tensor& other) const;
  Tensor addbmm(const Tensor& batch1, const Tensor& batch2, Scalar beta = 1,
                Scalar alpha = 1) const;

  // --- composed/inverse.h ---
  Tensor asin() const;
  Tensor acos() const;
  Tensor atan() const;
  Tensor atan2(const Tensor& other) const;
  Tensor asinh() const;
  Tensor acosh() const;
  Tensor atanh() const;

  // --- composed/special.h ---
  Tensor erfc() const;
  Tensor erfinv() const;
  Tensor lgamma() const;
  Tensor digamma() const;
  Tensor polygamma(std::int64_t n) const;
  Tensor& erfc_() const;
  Tensor& erfinv_() const;
  Tensor& lgamma_() const;
  Tensor& digamma_() const;
  Tensor& polygamma_(std::int64_t n) const;

  // --- composed/bits.h ---
  Tensor bitwise_and(const Tensor& other) const;
  Tensor bitwise_and(Scalar other) const;
  Tensor bitwise_or(const Tensor& other) const;
  Tensor bitwise_or(Scalar other) const;
  Tensor bitwise_xor(const Tensor& other) const;
  Tensor bitwise_xor(Scalar other) const;
  Tensor bitwise_not() const;
  Tensor bitwise_left_shift(const Tensor& other) const;
  Tensor bitwise_left_shift(Scalar other) const;
  Tensor bitwise_right_shift(const Tensor& other) const;
  Tensor bitwise_right_shift(Scalar other) const;
  Tensor& bitwise_and_(const Tensor& other) const;
  Tensor& bitwise_and_(Scalar other) const;
  Tensor& bitwise_or_(const Tensor& other) const;
  Tensor& bitwise_or_(Scalar other) const;
  Tensor& bitwise_xor_(const Tensor& other) const;
  Tensor& bitwise_xor_(Scalar other) const;
  Tensor& bitwise_not_() const;
  Tensor& bitwise_left_shift_(const Tensor& other) const;
  Tensor& bitwise_left_shift_(Scalar other) const;
  Tensor& bitwise_right_shift_(const Tensor& other) const;
  Tensor& bitwise_right_shift_(Scalar other) const;

  // --- composed/counting.h ---
  Tensor argwhere() const;
  Tensor bincount(const Tensor& weights, std::int64_t minlength = 0) const;
  Tensor bincount() const;
  Tensor histc(std::int64_t bins = 100, Scalar min = 0, Scalar max = 0) const;

  // --- composed/pointwise.h ---
  Tensor frac() const;
  Tensor nan_to_num(std::optional<double> nan = std::nullopt,
                    std::optional<double> posinf = std::nullopt,
                    std::optional<double> neginf = std::nullopt) const;
  Tensor& nan_to_num_(std::optional<double> nan = std::nullopt,
                      std::optional<double> posinf = std::nullopt,
                      std::optional<double> neginf = std::nullopt) const;
  Tensor positive() const;
  Tensor deg2rad() const;
  Tensor rad2deg() const;
  Tensor sinh() const;
  Tensor cosh() const;
  Tensor sinc() const;
  Tensor logit(std::optional<double> eps = std::nullopt) const;
  Tensor logaddexp(const Tensor& other) const;
  Tensor xlogy(const Tensor& other) const;
  Tensor xlogy(Scalar other) const;
  Tensor hypot(const Tensor& other) const;
  Tensor heaviside(const Tensor& values) const;
  Tensor fmax(const Tensor& other) const;
  Tensor fmin(const Tensor& other) const;
  Tensor signbit() const;
  Tensor copysign(const Tensor& other) const;
  Tensor copysign(Scalar other) const;
  Tensor float_power(const Tensor& exponent) const;
  Tensor float_power(Scalar exponent) const;

  /// Views in place: this tensor, and every copy of its handle, gets the new shape and strides.
  /// Throw std::invalid_argument for a tensor that requires grad: write `x = x.unsqueeze(0)`.
  Tensor& squeeze_() const;
  Tensor& squeeze_(std::int64_t dim) const;
  Tensor& unsqueeze_(std::int64_t dim) const;
  Tensor& transpose_(std::int64_t dim0, std::int64_t dim1) const;
  Tensor& t_() const;

 protected:
  ComposedMethods() = default;
};

}  // namespace detail
}  // namespace halfgrad
