#include <halfgrad/compat/linalg.h>

#include <cmath>
#include <string>
#include <utility>

#include <halfgrad/autograd/composed.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/graph/op_name.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

// Returns the two dimensions of a matrix, counted from the front.
std::pair<std::int64_t, std::int64_t> matrix_dims(const Tensor& self, const Dims& dim) {
  if (self.dim() < 2 || dim.size() != 2) {
    detail::fail("linalg_matrix_norm",
                 "expected two dimensions or more and two of them, got {} and {}", self.sizes(),
                 dim);
  }
  const int ndim = static_cast<int>(self.dim());
  const int rows = wrap_dim(dim[0], ndim, "linalg_matrix_norm");
  const int columns = wrap_dim(dim[1], ndim, "linalg_matrix_norm");
  if (rows == columns) {
    detail::fail("linalg_matrix_norm", "expected two different dimensions, got {}", dim);
  }
  return {rows, columns};
}

}  // namespace

Tensor linalg_vector_norm(const Tensor& self, Scalar ord, const std::optional<Dims>& dim,
                          bool keepdim, std::optional<DType> dtype) {
  const Tensor x = dtype ? to(self, *dtype) : self;
  return detail::with_op_name("linalg_vector_norm", "norm",
                              [&] { return norm(x, ord, dim.value_or(Dims()), keepdim); });
}

Tensor linalg_matrix_norm(const Tensor& self, Scalar ord, const Dims& dim, bool keepdim,
                          std::optional<DType> dtype) {
  const double p = ord.to<double>();
  const bool of_rows = std::isinf(p);
  if (!of_rows && std::abs(p) != 1) {
    detail::fail("linalg_matrix_norm", "expected ord 1, -1, inf, -inf or \"fro\", got {}", p);
  }
  const auto [rows, columns] = matrix_dims(self, dim);
  const Tensor x = abs(dtype ? to(self, *dtype) : self);
  const Tensor sums = sum(x, of_rows ? columns : rows, /*keepdim=*/true);
  const Dims along{of_rows ? rows : columns};
  const Tensor norms = p > 0 ? amax(sums, along, true) : amin(sums, along, true);
  return keepdim ? norms : reshape(norms, sum(self.detach(), Dims{rows, columns}).sizes());
}

Tensor detail::named_matrix_norm(const Tensor& self, std::string_view ord, const Dims& dim,
                                 bool keepdim, std::optional<DType> dtype) {
  if (ord != "fro") {
    fail("linalg_matrix_norm", "expected ord 1, -1, inf, -inf or \"fro\", got \"{}\"",
         std::string(ord));
  }
  const auto [rows, columns] = matrix_dims(self, dim);
  return linalg_vector_norm(self, 2, Dims{rows, columns}, keepdim, dtype);
}

Tensor linalg_norm(const Tensor& self, std::optional<Scalar> ord, const std::optional<Dims>& dim,
                   bool keepdim, std::optional<DType> dtype) {
  const std::int64_t dims = dim ? dim->size() : self.dim();
  if (ord && dims == 2) {
    return linalg_matrix_norm(self, *ord, dim.value_or(Dims{-2, -1}), keepdim, dtype);
  }
  if (ord && dims != 1) {
    detail::fail("linalg_norm",
                 "expected a vector, a matrix, or one or two dimensions with ord, got shape {} and "
                 "{}",
                 self.sizes(), dim.value_or(Dims()));
  }
  return linalg_vector_norm(self, ord.value_or(2), dim, keepdim, dtype);
}

// A vector at either end counts as a row or a column, whose dimension the result lacks.
Tensor linalg_multi_dot(const std::vector<Tensor>& tensors) {
  if (tensors.size() < 2) {
    detail::fail("linalg_multi_dot", "expected two tensors or more, got {}", tensors.size());
  }
  std::vector<Tensor> matrices = tensors;
  const bool has_row = tensors.front().dim() == 1, has_column = tensors.back().dim() == 1;
  if (has_row) matrices.front() = unsqueeze(tensors.front(), 0);
  if (has_column) matrices.back() = unsqueeze(tensors.back(), 1);
  Tensor product = detail::with_op_name("linalg_multi_dot", "chain_matmul",
                                        [&] { return chain_matmul(matrices); });
  if (has_column) product = squeeze(product, 1);
  return has_row ? squeeze(product, 0) : product;
}

Tensor frobenius_norm(const Tensor& self, const Dims& dim, bool keepdim) {
  return detail::with_op_name("frobenius_norm", "norm",
                              [&] { return norm(self, 2, dim, keepdim); });
}

Tensor norm(const Tensor& self, std::optional<Scalar> p, DType dtype) {
  return norm(to(self, dtype), p.value_or(2));
}

// libtorch's 1e-7 keeps the norm of the result at most maxnorm.
Tensor renorm(const Tensor& self, Scalar p, std::int64_t dim, Scalar maxnorm) {
  const int kept = wrap_dim(dim, static_cast<int>(self.dim()), "renorm");
  Dims others;
  for (int d = 0; d < self.dim(); ++d) {
    if (d != kept) others.push_back(d);
  }
  if (others.empty())
    detail::fail("renorm", "expected two dimensions or more, got {}", self.sizes());
  const Tensor lengths = norm(self, p, others, /*keepdim=*/true);
  return self * where(lengths > maxnorm, maxnorm / (lengths + 1e-7), ones_like(lengths));
}

}  // namespace halfgrad
