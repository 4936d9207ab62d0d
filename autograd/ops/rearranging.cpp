#include <algorithm>
#include <cstdint>
#include <utility>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/graph/composite_op.h>
#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/view.h>
#include <halfgrad/core/engines/element_view.h>
#include <halfgrad/core/engines/parallel.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

// out[o, i] = source[o, size - 1 - i]
template <class Bits>
struct ReverseElements {
  const Bits* source;
  Bits* out;
  std::int64_t size;

  HG_HD void operator()(std::int64_t row, std::int64_t i) const {
    out[row * size + i] = source[row * size + size - 1 - i];
  }
};

// out[o, i, :] = source[o, size - 1 - i, :], where `row` counts the pairs (o, i)
template <class Bits>
struct ReverseRows {
  const Bits* source;
  Bits* out;
  std::int64_t size, inner;

  HG_HD void operator()(std::int64_t row, std::int64_t column) const {
    const std::int64_t outer = row / size, i = row - outer * size;
    const std::int64_t from = outer * size + size - 1 - i;
    out[row * inner + column] = source[from * inner + column];
  }
};

// Returns the contiguous x, seen as [outer, size, inner], with its second dimension reversed.
Array reversed(const char* op, const Array& x, std::int64_t size, std::int64_t inner) {
  const Array out = Array::empty(x.sizes(), x.dtype(), x.device());
  if (x.numel() == 0) return out;
  visit_bits(x.dtype(), [&](auto tag) {
    using Bits = typename decltype(tag)::type;
    const auto* const source = x.data_as<const Bits>();
    auto* const target = out.data_as<Bits>();
    const std::int64_t rows = x.numel() / inner;
    if (inner == 1) {
      parallel_for_each(op, x.device(), rows / size, size,
                        ReverseElements<Bits>{source, target, size});
    } else {
      parallel_for_each(op, x.device(), rows, inner,
                        ReverseRows<Bits>{source, target, size, inner});
    }
  });
  return out;
}

// out[row, j] = x[row, j] on the kept side of the diagonal, else 0, for matrices of n rows.
template <class Bits, bool kUpper>
struct KeepTriangle {
  const Bits* x;
  Bits* out;
  std::int64_t n, m, diagonal;

  HG_HD void operator()(std::int64_t row, std::int64_t j) const {
    const std::int64_t on_diagonal = row % n + diagonal;
    const bool keeps = kUpper ? j >= on_diagonal : j <= on_diagonal;
    out[row * m + j] = keeps ? x[row * m + j] : Bits{0};
  }
};

// The upper or lower triangle of the matrices x. The gradient is cut in the same way.
template <bool kUpper>
struct Triangle {
  static constexpr auto name = kUpper ? "triu" : "tril";
  static constexpr auto precision = Precision::any;
  static constexpr unsigned saves = kSavesNothing;
  std::int64_t diagonal;

  Array forward(const Array& x) const {
    if (x.ndim() < 2) {
      fail(name, "expected matrices [..., n, m], got shape {}", x.sizes());
    }
    const Array source = x.contiguous();
    const Array out = Array::empty(x.sizes(), x.dtype(), x.device());
    if (x.numel() == 0) return out;
    const std::int64_t n = x.size(-2), m = x.size(-1);
    // A diagonal beyond the matrix acts as the nearest one outside, and sums do not overflow.
    const std::int64_t nearest = std::clamp(diagonal, -n, m);
    visit_bits(x.dtype(), [&](auto tag) {
      using Bits = typename decltype(tag)::type;
      parallel_for_each(name, x.device(), x.numel() / m, m,
                        KeepTriangle<Bits, kUpper>{source.data_as<const Bits>(),
                                                   out.data_as<Bits>(), n, m, nearest});
    });
    return out;
  }
  void backward(const Backward<1>& node) const { node.set(0, apply(*this, node.grad())); }
};

// The dimensions of the set `flipped` are reversed. The gradient is reversed in the same way.
struct Flip {
  static constexpr auto name = "flip";
  static constexpr auto precision = Precision::any;
  static constexpr unsigned saves = kSavesNothing;
  unsigned flipped;

  Array forward(const Array& x) const {
    Array y = x.contiguous();
    std::int64_t size = 1, inner = 1;
    // Neighbouring dimensions that are all reversed are reversed as one.
    for (int d = x.ndim() - 1; d >= 0; --d) {
      if ((flipped >> d & 1U) == 0) {
        inner *= x.size(d);
        continue;
      }
      size *= x.size(d);
      if (d > 0 && (flipped >> (d - 1) & 1U) != 0) continue;
      y = reversed(name, y, size, inner);
      inner *= size;
      size = 1;
    }
    return y;
  }
  void backward(const Backward<1>& node) const { node.set(0, apply(*this, node.grad())); }
};

}  // namespace
}  // namespace detail

namespace {

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

// y_ij = x_ij for j - i >= diagonal, else 0
Tensor triu(const Tensor& self, std::int64_t diagonal) {
  return detail::apply(detail::Triangle<true>{diagonal}, self);
}
// y_ij = x_ij for j - i <= diagonal, else 0
Tensor tril(const Tensor& self, std::int64_t diagonal) {
  return detail::apply(detail::Triangle<false>{diagonal}, self);
}

// y[..., i, ...] = x[..., n - 1 - i, ...] along each of `dims`
Tensor flip(const Tensor& self, const Shape& dims) {
  unsigned flipped = 0;
  for (const std::int64_t dim : dims) {
    const int d = wrap_dim(dim, static_cast<int>(self.dim()), "flip");
    if ((flipped >> d & 1U) != 0) {
      detail::fail("flip", "expected each dimension once, got {}", dims);
    }
    flipped |= 1U << d;
  }
  if (flipped == 0 || self.dim() == 0) return clone(self);
  return detail::apply(detail::Flip{flipped}, self);
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
