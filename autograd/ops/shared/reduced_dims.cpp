#include <halfgrad/autograd/ops/shared/reduced_dims.h>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::detail {

unsigned dims_mask(const Shape& dims, int ndim, const char* op) {
  unsigned mask = 0;
  for (const std::int64_t dim : dims) {
    const unsigned bit = 1U << static_cast<unsigned>(wrap_dim(dim, ndim, op));
    if ((mask & bit) != 0) {
      fail(op, "expected each dimension once, got {}", dims);
    }
    mask |= bit;
  }
  return dims.empty() || ndim == 0 ? (1U << static_cast<unsigned>(ndim)) - 1 : mask;
}

Shape reduced_sizes(const Shape& sizes, unsigned mask, bool keepdim) {
  Shape result;
  for (int i = 0; i < sizes.size(); ++i) {
    const bool reduced = (mask >> static_cast<unsigned>(i) & 1U) != 0;
    if (!reduced) result.push_back(sizes[i]);
    if (reduced && keepdim) result.push_back(1);
  }
  return result;
}

Tensor spread(const Tensor& grad, const Shape& sizes, unsigned mask) {
  return expand(reshape(grad, reduced_sizes(sizes, mask, true)), sizes);
}

void expect_elements(const Array& x, unsigned mask, const char* op) {
  for (int d = 0; d < x.ndim(); ++d) {
    if ((mask >> static_cast<unsigned>(d) & 1U) == 0 || x.sizes()[d] != 0) continue;
    fail(op, "expected at least one element to choose from, got shape {}", x.sizes());
  }
}

}  // namespace halfgrad::detail
