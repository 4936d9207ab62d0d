#include <algorithm>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/view.h>
#include <halfgrad/core/engines/grouping.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

constexpr char kBackward[] = "as_strided_backward";

// Returns the storage offset one past the last element.
std::int64_t end_of(const Geometry& geometry) {
  std::int64_t end = geometry.offset + 1;
  for (int i = 0; i < geometry.sizes.size(); ++i) {
    end += (geometry.sizes[i] - 1) * geometry.strides[i];
  }
  return end;
}

// Returns a storage of `extent` elements: `values` at these strides from `offset` on, zeros
// elsewhere. Values with the same position are added.
Array laid_out(const Array& values, const Shape& strides, std::int64_t offset,
               std::int64_t extent) {
  const Shape& sizes = values.sizes();
  if (values.numel() == extent && strides == contiguous_strides(sizes)) {
    return values.contiguous();
  }
  const Array storage = Array::full({extent}, 0, values.dtype(), values.device());
  const Array view = storage.as_strided(sizes, strides, offset);
  if (!view.repeats_elements()) {
    view.copy_(values);
    return storage;
  }
  const Array all = arange(extent, {.device = values.device()}).array();
  const Array positions = all.as_strided(sizes, strides, offset).contiguous();
  sum_groups(kBackward, storage, {}, values.contiguous(), group_by(kBackward, positions, extent), 1,
             1);
  return storage;
}

// y is x's storage seen with other sizes, strides and offset.
// dx = (zeros with dy added at y's strides), read at x's strides
// Elements of x that share memory get equal shares of the gradient.
Tensor as_strided_backward(const Tensor& grad, Geometry y, const Geometry& x, bool x_repeats) {
  for (int i = 0; i < y.sizes.size(); ++i) {
    if (y.strides[i] == 0) y.sizes[i] = std::min<std::int64_t>(y.sizes[i], 1);
  }
  const Tensor dx = restrided(sum_to_size(grad, y.sizes), y, x);
  if (!x_repeats) return dx;
  const Tensor ones(Array::full(x.sizes, 1, promote_types(grad.dtype(), kFloat), grad.device()));
  return dx / restrided(ones, x, x);
}

}  // namespace

Tensor restrided(const Tensor& values, const Geometry& from, const Geometry& to) {
  const auto back = [=](const Tensor& grad) { return restrided(grad, to, from); };
  if (values.numel() == 0 || numel(to.sizes) == 0) {
    const Array zeros = Array::full(to.sizes, 0, values.dtype(), values.device());
    return record_view(kBackward, values, zeros, back);
  }
  const std::int64_t first = std::min(from.offset, to.offset);
  const std::int64_t extent = std::max(end_of(from), end_of(to)) - first;
  const Array storage = laid_out(values.array(), from.strides, from.offset - first, extent);
  return record_view(
      kBackward, values,
      storage.as_strided(to.sizes, to.strides, storage.storage_offset() + to.offset - first), back);
}

}  // namespace detail

Tensor as_strided(const Tensor& self, const Shape& size, const Shape& stride,
                  std::optional<std::int64_t> storage_offset) {
  const std::int64_t offset = storage_offset.value_or(self.storage_offset());
  if (offset < 0 || std::any_of(stride.begin(), stride.end(), [](auto s) { return s < 0; })) {
    detail::fail("as_strided", "expected strides and an offset >= 0, got strides {} and offset {}",
                 stride, offset);
  }
  const Array& x = self.array();
  Array y = x.as_strided(size, stride, offset);
  const detail::Geometry from(x), to(y);
  return detail::record_view("as_strided", self, std::move(y),
                             [=, repeats = x.repeats_elements()](const Tensor& grad) {
                               return detail::as_strided_backward(grad, to, from, repeats);
                             });
}

}  // namespace halfgrad
