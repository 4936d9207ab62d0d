#include <algorithm>
#include <cstdlib>
#include <limits>
#include <span>
#include <utility>

#include <halfgrad/autograd/graph/composite_op.h>
#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/view.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

// y[..., i] = x[..., i, ..., i + offset, ...], i in dim1 and i + offset in dim2
struct Diagonal {
  std::int64_t offset, dim1, dim2;

  Array view(const Array& x) const {
    const int first = wrap_dim(dim1, x.ndim(), "diagonal");
    const int second = wrap_dim(dim2, x.ndim(), "diagonal");
    if (first == second) {
      detail::fail("diagonal", "expected two dimensions, got {} and {} of shape {}", dim1, dim2,
                   x.sizes());
    }
    Shape sizes = x.sizes();
    Shape strides = x.strides();
    const std::int64_t right = std::clamp<std::int64_t>(offset, 0, sizes[second]);
    const std::int64_t down = -std::clamp<std::int64_t>(offset, -sizes[first], 0);
    const std::int64_t length = std::min(sizes[first] - down, sizes[second] - right);
    const std::int64_t start = down * strides[first] + right * strides[second];
    const std::int64_t stride = strides[first] + strides[second];
    for (const int dim : {std::max(first, second), std::min(first, second)}) {
      sizes.erase(dim);
      strides.erase(dim);
    }
    sizes.push_back(length);
    strides.push_back(stride);
    return x.as_strided(sizes, strides, x.storage_offset() + (length > 0 ? start : 0));
  }
};

// y = zeros of these sizes with x on the diagonal d
// dx = the diagonal d of dy
Tensor embedded(const Diagonal& d, const Tensor& x, const Shape& sizes, const char* name) {
  Array y = Array::full(sizes, 0, x.dtype(), x.device());
  d.view(y).copy_(x.array());
  return detail::record(name, std::move(y), std::span(&x, 1),
                        [d](const Tensor& grad, std::span<Tensor> grad_inputs) {
                          grad_inputs[0] = diagonal(grad, d.offset, d.dim1, d.dim2);
                        });
}

}  // namespace

// dx = zeros with dy on the diagonal
Tensor diagonal(const Tensor& self, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const Diagonal d{offset, dim1, dim2};
  return detail::record_view("diagonal", self, d.view(self.array()),
                             [d, sizes = self.sizes()](const Tensor& grad) {
                               return embedded(d, grad, sizes, "diagonal_backward");
                             });
}

// x [n]:    y [n + |k|, n + |k|] = zeros with x on diagonal k
// x [n, m]: y = a copy of diagonal k
Tensor diag(const Tensor& self, std::int64_t diagonal) {
  if (self.dim() != 1 && self.dim() != 2) {
    detail::fail("diag", "expected a vector or a matrix, got shape {}", self.sizes());
  }
  if (self.dim() == 2) return clone(halfgrad::diagonal(self, diagonal));
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() - self.size(0);
  if (diagonal > most || diagonal < -most) {
    detail::fail("diag", "expected a diagonal of a matrix, got {}", diagonal);
  }
  const std::int64_t size = self.size(0) + std::abs(diagonal);
  return embedded({diagonal, 0, 1}, self, {size, size}, "diag");
}

// y = sum_i x[i, i]
Tensor trace(const Tensor& self) {
  if (self.dim() != 2) detail::fail("trace", "expected a matrix, got shape {}", self.sizes());
  return detail::composite(
      "trace", Precision::any, [](const Tensor& x) { return sum(diagonal(x)); }, self);
}

}  // namespace halfgrad
