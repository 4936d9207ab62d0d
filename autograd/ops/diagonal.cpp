#include <algorithm>
#include <cstdlib>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include <halfgrad/autograd/composite_op.h>
#include <halfgrad/autograd/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/view.h>

namespace halfgrad {
namespace {

// Of dim1 and dim2, where the index of dim2 is `offset` above that of dim1.
struct Diagonal {
  std::int64_t offset, dim1, dim2;

  Array of(const Array& x) const {
    const int first = wrap_dim(dim1, x.ndim(), "diagonal");
    const int second = wrap_dim(dim2, x.ndim(), "diagonal");
    if (first == second) {
      throw std::invalid_argument("diagonal: expected two dimensions, got " + std::to_string(dim1) +
                                  " and " + std::to_string(dim2) + " of shape " +
                                  to_string(x.sizes()));
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

// Zeros of these sizes with the numbers on the diagonal; the adjoint takes them from there.
Tensor put_on(const Diagonal& place, const Tensor& numbers, const Shape& sizes, const char* name) {
  Array whole = Array::full(sizes, 0, numbers.dtype(), numbers.device());
  place.of(whole).copy_(numbers.array());
  return detail::record(name, std::move(whole), std::span(&numbers, 1),
                        [place](const Tensor& grad, std::span<Tensor> grad_inputs) {
                          grad_inputs[0] = diagonal(grad, place.offset, place.dim1, place.dim2);
                        });
}

}  // namespace

Tensor diagonal(const Tensor& self, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const Diagonal place{offset, dim1, dim2};
  return detail::record_view("diagonal", self, place.of(self.array()),
                             [place, sizes = self.sizes()](const Tensor& grad) {
                               return put_on(place, grad, sizes, "diagonal_backward");
                             });
}

Tensor diag(const Tensor& self, std::int64_t diagonal) {
  if (self.dim() != 1 && self.dim() != 2) {
    throw std::invalid_argument("diag: expected a vector or a matrix, got shape " +
                                to_string(self.sizes()));
  }
  if (self.dim() == 2) return clone(halfgrad::diagonal(self, diagonal));
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() - self.size(0);
  if (diagonal > most || diagonal < -most) {
    throw std::invalid_argument("diag: expected a diagonal of a matrix, got " +
                                std::to_string(diagonal));
  }
  const std::int64_t size = self.size(0) + std::abs(diagonal);
  return put_on({diagonal, 0, 1}, self, {size, size}, "diag");
}

Tensor trace(const Tensor& self) {
  if (self.dim() != 2) {
    throw std::invalid_argument("trace: expected a matrix, got shape " + to_string(self.sizes()));
  }
  return detail::composite(
      "trace", Precision::any, [](const Tensor& x) { return sum(diagonal(x)); }, self);
}

}  // namespace halfgrad
