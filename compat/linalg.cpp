#include <halfgrad/compat/linalg.h>

#include <halfgrad/autograd/composed.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/graph/op_name.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {

Tensor linalg_vector_norm(const Tensor& self, Scalar ord, const std::optional<Dims>& dim,
                          bool keepdim, std::optional<DType> dtype) {
  const Tensor x = dtype ? to(self, *dtype) : self;
  return detail::with_op_name("linalg_vector_norm", "norm",
                              [&] { return norm(x, ord, dim.value_or(Dims()), keepdim); });
}

Tensor linalg_norm(const Tensor& self, std::optional<Scalar> ord, const std::optional<Dims>& dim,
                   bool keepdim, std::optional<DType> dtype) {
  const std::int64_t dims = dim ? dim->size() : self.dim();
  if (ord && dims != 1) {
    detail::fail("linalg_norm", "expected a vector or one dimension with ord, got shape {} and {}",
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
