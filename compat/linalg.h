#pragma once

#include <halfgrad/compat/names.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <halfgrad/autograd/composed.h>
#include <halfgrad/autograd/ops.h>

/// Norms and products of libtorch's namespace linalg, under both of its spellings.
namespace halfgrad {

namespace detail {

/// The name of a norm, such as "fro": a literal 0 is the number, not a text that is null.
template <class S>
concept Text = std::convertible_to<const S&, std::string_view>;

Tensor named_matrix_norm(const Tensor& self, std::string_view ord, const Dims& dim, bool keepdim,
                         std::optional<DType> dtype);

}  // namespace detail

/// The p-norm, p = ord, over these dimensions, or over all. Computes in `dtype` if one is given.
Tensor linalg_vector_norm(const Tensor& self, Scalar ord = 2,
                          const std::optional<Dims>& dim = std::nullopt, bool keepdim = false,
                          std::optional<DType> dtype = std::nullopt);
/// The norm of each matrix, whose rows lie along dim[0] and columns along dim[1]:
///
///     ord = 1    max_j sum_i |a_ij|        ord = -1    min_j sum_i |a_ij|
///     ord = inf  max_i sum_j |a_ij|        ord = -inf  min_i sum_j |a_ij|
///
/// Throws std::invalid_argument for another `ord`, such as 2, which needs singular values.
Tensor linalg_matrix_norm(const Tensor& self, Scalar ord, const Dims& dim = {-2, -1},
                          bool keepdim = false, std::optional<DType> dtype = std::nullopt);
/// The Frobenius norm of each matrix, for ord "fro". Throws std::invalid_argument for "nuc", the
/// sum of the singular values.
template <detail::Text S>
Tensor linalg_matrix_norm(const Tensor& self, const S& ord, const Dims& dim = {-2, -1},
                          bool keepdim = false, std::optional<DType> dtype = std::nullopt) {
  return detail::named_matrix_norm(self, ord, dim, keepdim, dtype);
}
inline Tensor linalg_matrix_norm(const Tensor& self) { return linalg_matrix_norm(self, "fro"); }
/// The 2-norm of all elements, or over one dimension or two; with `ord` the p-norm of a vector or
/// over one dimension, or linalg_matrix_norm() of a matrix or over two.
Tensor linalg_norm(const Tensor& self, std::optional<Scalar> ord = std::nullopt,
                   const std::optional<Dims>& dim = std::nullopt, bool keepdim = false,
                   std::optional<DType> dtype = std::nullopt);
template <detail::Text S>
Tensor linalg_norm(const Tensor& self, const S& ord, const std::optional<Dims>& dim = std::nullopt,
                   bool keepdim = false, std::optional<DType> dtype = std::nullopt) {
  return linalg_matrix_norm(self, ord, dim.value_or(Dims{-2, -1}), keepdim, dtype);
}
inline Tensor linalg_cross(const Tensor& self, const Tensor& other, std::int64_t dim = -1) {
  return cross(self, other, dim);
}
/// The product of matrices in the cheapest order. The first and the last may be vectors.
Tensor linalg_multi_dot(const std::vector<Tensor>& tensors);
/// The square root of the sum of squares over these dimensions.
Tensor frobenius_norm(const Tensor& self, const Dims& dim, bool keepdim = false);
/// norm() of the tensor in `dtype`.
Tensor norm(const Tensor& self, std::optional<Scalar> p, DType dtype);
/// Scales each slice along `dim` whose p-norm exceeds maxnorm down to that norm.
Tensor renorm(const Tensor& self, Scalar p, std::int64_t dim, Scalar maxnorm);

namespace linalg {

inline Tensor vector_norm(const Tensor& self, Scalar ord = 2,
                          const std::optional<Dims>& dim = std::nullopt, bool keepdim = false,
                          std::optional<DType> dtype = std::nullopt) {
  return linalg_vector_norm(self, ord, dim, keepdim, dtype);
}
inline Tensor norm(const Tensor& self, std::optional<Scalar> ord = std::nullopt,
                   const std::optional<Dims>& dim = std::nullopt, bool keepdim = false,
                   std::optional<DType> dtype = std::nullopt) {
  return linalg_norm(self, ord, dim, keepdim, dtype);
}
template <halfgrad::detail::Text S>
Tensor norm(const Tensor& self, const S& ord, const std::optional<Dims>& dim = std::nullopt,
            bool keepdim = false, std::optional<DType> dtype = std::nullopt) {
  return linalg_norm(self, ord, dim, keepdim, dtype);
}
inline Tensor matrix_norm(const Tensor& self, Scalar ord, const Dims& dim = {-2, -1},
                          bool keepdim = false, std::optional<DType> dtype = std::nullopt) {
  return linalg_matrix_norm(self, ord, dim, keepdim, dtype);
}
template <halfgrad::detail::Text S>
Tensor matrix_norm(const Tensor& self, const S& ord, const Dims& dim = {-2, -1},
                   bool keepdim = false, std::optional<DType> dtype = std::nullopt) {
  return linalg_matrix_norm(self, ord, dim, keepdim, dtype);
}
inline Tensor matrix_norm(const Tensor& self) { return linalg_matrix_norm(self); }
inline Tensor matrix_power(const Tensor& self, std::int64_t n) {
  return halfgrad::matrix_power(self, n);
}
inline Tensor cross(const Tensor& self, const Tensor& other, std::int64_t dim = -1) {
  return halfgrad::cross(self, other, dim);
}
inline Tensor multi_dot(const std::vector<Tensor>& tensors) { return linalg_multi_dot(tensors); }
inline Tensor matmul(const Tensor& self, const Tensor& other) {
  return halfgrad::matmul(self, other);
}

}  // namespace linalg
}  // namespace halfgrad
