#pragma once

#include <halfgrad/compat/names.h>

#include <cstdint>
#include <optional>
#include <vector>

#include <halfgrad/autograd/composed.h>
#include <halfgrad/autograd/ops.h>

/// Norms and products of libtorch's namespace linalg, under both of its spellings.
namespace halfgrad {

/// The p-norm, p = ord, over these dimensions, or over all. Computes in `dtype` if one is given.
Tensor linalg_vector_norm(const Tensor& self, Scalar ord = 2,
                          const std::optional<Dims>& dim = std::nullopt, bool keepdim = false,
                          std::optional<DType> dtype = std::nullopt);
/// The 2-norm of all elements, or over one dimension or two; with `ord` the p-norm of a vector or
/// over one dimension. Throws std::invalid_argument for an `ord` with matrices: only their
/// Frobenius norm is there, without `ord`.
Tensor linalg_norm(const Tensor& self, std::optional<Scalar> ord = std::nullopt,
                   const std::optional<Dims>& dim = std::nullopt, bool keepdim = false,
                   std::optional<DType> dtype = std::nullopt);
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
