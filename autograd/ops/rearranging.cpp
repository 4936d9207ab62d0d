#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/graph/composite_op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/view.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

// Returns a mask [n, m], true where column - row >= diagonal.
Tensor on_or_above(const Tensor& self, std::int64_t diagonal, const char* op) {
  if (self.dim() < 2) {
    detail::fail(op, "expected matrices [..., n, m], got shape {}", self.sizes());
  }
  const Tensor rows = arange(self.size(-2), {.device = self.device()});
  const Tensor columns = arange(self.size(-1), {.device = self.device()});
  return columns - unsqueeze(rows, 1) >= diagonal;
}

Tensor rolled(const Tensor& self, std::int64_t shift, std::int64_t dim) {
  const std::int64_t size = self.size(wrap_dim(dim, static_cast<int>(self.dim()), "roll"));
  if (size == 0) return clone(self);
  const std::int64_t rest = shift % size;
  const std::int64_t start = rest > 0 ? size - rest : -rest;
  return detail::composite(
      "roll", Precision::any,
      [=](const Tensor& x) {
        return cat({slice(x, dim, start), slice(x, dim, 0, start)}, dim);
      },
      self);
}

}  // namespace

// Every op here is composed of ops that have gradients of their own.
//
// y_ij = x_ij for j - i >= diagonal, else 0
Tensor triu(const Tensor& self, std::int64_t diagonal) {
  return masked_fill(self, ~on_or_above(self, diagonal, "triu"), 0);
}
// y_ij = x_ij for j - i <= diagonal, else 0
Tensor tril(const Tensor& self, std::int64_t diagonal) {
  return masked_fill(self, on_or_above(self, diagonal + 1, "tril"), 0);
}

// y[..., i, ...] = x[..., n - 1 - i, ...] along each of `dims`
Tensor flip(const Tensor& self, const Shape& dims) {
  Tensor result = self;
  unsigned flipped = 0;
  for (const std::int64_t dim : dims) {
    const int d = wrap_dim(dim, static_cast<int>(self.dim()), "flip");
    if ((flipped >> d & 1U) != 0) {
      detail::fail("flip", "expected each dimension once, got {}", dims);
    }
    flipped |= 1U << d;
    if (self.dim() == 0) continue;
    result = index_select(result, d, arange(self.size(d) - 1, -1, -1, {.device = self.device()}));
  }
  return result.is_same(self) ? clone(self) : result;
}

// y[..., (i + shift) mod n, ...] = x[..., i, ...] along each of `dims`, or along the flattened x
Tensor roll(const Tensor& self, const Dims& shifts, const Dims& dims) {
  if (dims.empty() && shifts.size() == 1) {
    return detail::unsafe_view(rolled(flatten(self), shifts[0], 0), self.sizes());
  }
  if (shifts.empty() || shifts.size() != dims.size()) {
    detail::fail("roll", "expected a shift for each dimension, got shifts {} and dims {}", shifts,
                 dims);
  }
  Tensor result = self;
  for (int i = 0; i < dims.size(); ++i) result = rolled(result, shifts[i], dims[i]);
  return result;
}

// y = `repeats` copies of x side by side along each dimension
Tensor repeat(const Tensor& self, const Shape& repeats) {
  const int added = repeats.size() - static_cast<int>(self.dim());
  if (added < 0) {
    detail::fail("repeat", "expected a count for each dimension of {}, got {}", self.sizes(),
                 repeats);
  }
  Shape sizes;
  for (int i = 0; i < repeats.size(); ++i) {
    if (repeats[i] < 0) {
      detail::fail("repeat", "expected counts >= 0, got {}", repeats);
    }
    sizes.push_back(i < added ? 1 : self.size(i - added));
  }
  Tensor result = reshape(self, sizes);
  for (int i = 0; i < repeats.size(); ++i) {
    if (repeats[i] == 1) continue;
    // As [outer, 1, block], because `sizes` may have the largest number of dimensions already.
    std::int64_t outer = 1;
    for (int k = 0; k < i; ++k) outer *= sizes[k];
    const std::int64_t block = outer == 0 ? 0 : numel(sizes) / outer;
    sizes[i] *= repeats[i];
    const Tensor blocks = reshape(result, {outer, 1, block});
    result = reshape(expand(blocks, {outer, repeats[i], block}), sizes);
  }
  return result.array().storage() == self.array().storage() ? clone(result) : result;
}

}  // namespace halfgrad
