#include <halfgrad/autograd/composed/writing.h>

#include <vector>

#include <halfgrad/autograd/composed/scatter_places.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/graph/composite_op.h>
#include <halfgrad/autograd/graph/op_name.h>
#include <halfgrad/autograd/indexing.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/add_slices.h>
#include <halfgrad/autograd/ops/shared/indices.h>
#include <halfgrad/autograd/ops/shared/view.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

using detail::flat_positions;
using detail::scattered_values;
using detail::with_dimension;

void expect_dtype_of(const char* op, const Tensor& self, const Tensor& source) {
  if (self.dtype() != source.dtype()) {
    detail::fail(op, "expected self and source of one dtype, got {} and {}", self.dtype(),
                 source.dtype());
  }
}

// --- index_add, index_copy, index_fill ---

// Returns an index [n] or [] as int64 [n].
Tensor slice_index(const char* op, const Tensor& index, std::int64_t size) {
  if (index.dim() > 1) detail::fail(op, "expected an index [n], got shape {}", index.sizes());
  return with_dimension(Tensor(detail::checked_indices(op, index.array(), size)));
}

// Returns a vector with dimensions of size 1 beside it, so that it lies along `dim`.
Tensor laid_along(const Tensor& vector, int dim, std::int64_t ndim) {
  Shape sizes;
  for (int i = 0; i < ndim; ++i) sizes.push_back(i == dim ? vector.numel() : 1);
  return reshape(vector, sizes);
}

// The operands of index_add and index_copy, with one dimension at least.
struct Slices {
  Tensor self;
  int dim;
  Tensor index;  // int64 [n]
  Tensor source;
};

Slices slices_of(const char* op, const Tensor& self, std::int64_t dim, const Tensor& index,
                 const Tensor& source) {
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), op);
  expect_dtype_of(op, self, source);
  const Tensor base = with_dimension(self);
  Slices s{base, d, slice_index(op, index, base.size(d)), with_dimension(source)};
  Shape sizes = base.sizes();
  sizes[d] = s.index.numel();
  if (s.source.sizes() != sizes) {
    detail::fail(op, "expected a source {} for self {} and {} indices, got {}", sizes, self.sizes(),
                 sizes[d], source.sizes());
  }
  return s;
}

// Returns a mask that is true in the slices to fill, and broadcasts to self.
Tensor filled_slices(const Tensor& self, std::int64_t dim, const Tensor& index) {
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), "index_fill");
  const std::int64_t size = self.dim() == 0 ? 1 : self.size(d);
  const Tensor given = index.dtype() == kInt ? index.to(kLong) : index;
  const Tensor from_start =
      given.dtype() != kLong ? given : where((given < 0) & (given >= -size), given + size, given);
  const Tensor at = slice_index("index_fill", from_start, size);
  const Tensor mask =
      scatter(zeros({size}, {.dtype = kBool, .device = self.device()}), 0, at, true);
  return self.dim() == 0 ? reshape(mask, {}) : laid_along(mask, d, self.dim());
}

// Throws std::invalid_argument for a value that the dtype does not hold, such as NaN for integers.
void expect_in_range(const Tensor& value, DType dtype) {
  const Scalar scalar =
      value.is_floating_point() ? Scalar(value.item<double>()) : value.item<std::int64_t>();
  static_cast<void>(full({}, scalar, {.dtype = dtype}));
}

// y = mask ? value : x
Tensor filled(const char* op, const Tensor& self, const Tensor& mask, const Tensor& value) {
  if (value.dim() != 0) {
    detail::fail(op, "expected a 0-dimensional value, got shape {}", value.sizes());
  }
  if (value.dtype() != self.dtype()) expect_in_range(value, self.dtype());
  return detail::with_op_name(op, "where", [&] { return where(mask, value.to(self), self); });
}

}  // namespace

// y = x, with y_flat[position of index[i]] = src[i]
Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) {
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), "scatter");
  expect_dtype_of("scatter", self, src);
  Tensor flat = clone(flatten(self));
  if (index.numel() > 0) {
    const Tensor values = scattered_values(index, src);
    flat.index_put_({flat_positions(self, d, index)}, values);
  }
  return detail::unsafe_view(flat, self.sizes());
}

Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, Scalar value) {
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), "scatter");
  if (index.numel() == 0) return clone(self);
  const Tensor at = flat_positions(self, d, index);
  const Tensor writes = scatter_add(zeros({self.numel()}, at.options()), 0, at, ones_like(at));
  return masked_fill(self, reshape(writes > 0, self.sizes()), value);
}

Tensor index_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source,
                 Scalar alpha) {
  const Slices s = slices_of("index_add", self, dim, index, source);
  if (!self.is_floating_point() && alpha.isFloatingPoint()) {
    detail::fail("index_add", "expected an integer alpha for {}, got {}", self.dtype(),
                 alpha.toDouble());
  }
  const Tensor scaled = alpha.toDouble() == 1 ? s.source : mul(s.source, alpha).to(self.dtype());
  return detail::unsafe_view(detail::add_slices(s.self, s.dim, s.index, scaled), self.sizes());
}

Tensor index_copy(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source) {
  const Slices s = slices_of("index_copy", self, dim, index, source);
  Tensor result = clone(s.self);
  if (s.index.numel() > 0) {
    std::vector<indexing::TensorIndex> indices(static_cast<std::size_t>(s.dim), indexing::Slice());
    indices.emplace_back(s.index);
    result.index_put_(indices, s.source);
  }
  return detail::unsafe_view(result, self.sizes());
}

Tensor index_fill(const Tensor& self, std::int64_t dim, const Tensor& index, Scalar value) {
  return masked_fill(self, filled_slices(self, dim, index), value);
}
Tensor index_fill(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& value) {
  return filled("index_fill", self, filled_slices(self, dim, index), value);
}
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  if (mask.dtype() != kBool) {
    detail::fail("masked_fill", "expected a mask of bool, got {}", mask.dtype());
  }
  return filled("masked_fill", self, mask, value);
}

// y = mask ? source_flat[(true elements of the mask up to here) - 1] : x
Tensor index_put(const Tensor& self, const std::vector<indexing::TensorIndex>& indices,
                 const Tensor& values, bool accumulate) {
  const auto compute = [&](const Tensor& x, const Tensor& y) {
    return x.clone().index_put_(indices, y, accumulate);
  };
  return detail::composite("index_put", Precision::widest_operand, compute, self, values);
}

Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  expect_dtype_of("masked_scatter", self, source);
  if (mask.dtype() != kBool) {
    detail::fail("masked_scatter", "expected a mask of bool, got {}", mask.dtype());
  }
  const Shape sizes = broadcast_shapes(self.sizes(), mask.sizes(), "masked_scatter");
  const Tensor base = expand(self, sizes), places = expand(mask, sizes);
  if (places.numel() == 0) return clone(base);
  const Tensor order = cumsum(flatten(places).to(kLong), 0);
  const auto count = select(order, 0, -1).item<std::int64_t>();
  if (source.numel() < count) {
    detail::fail("masked_scatter", "expected a source of at least {} elements, got {}", count,
                 source.numel());
  }
  if (count == 0) return clone(base);
  const Tensor picked = index_select(flatten(source), 0, clamp_min(order - 1, 0));
  return where(places, reshape(picked, sizes), base);
}

}  // namespace halfgrad
