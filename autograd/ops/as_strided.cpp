#include <algorithm>
#include <stdexcept>
#include <string>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/view.h>
#include <halfgrad/core/grouping.h>

namespace halfgrad {
namespace detail {
namespace {

constexpr char kBackward[] = "as_strided_backward";

// Behind the last element.
std::int64_t end_of(const Geometry& geometry) {
  std::int64_t end = geometry.offset + 1;
  for (int i = 0; i < geometry.sizes.size(); ++i) {
    end += (geometry.sizes[i] - 1) * geometry.strides[i];
  }
  return end;
}

// A storage of `extent` numbers that holds these at such strides, from `offset` on, and zeros.
Array laid_out(const Array& numbers, const Shape& strides, std::int64_t offset,
               std::int64_t extent) {
  const Shape& sizes = numbers.sizes();
  if (numbers.numel() == extent && strides == contiguous_strides(sizes)) {
    return numbers.contiguous();
  }
  const Array storage = Array::full({extent}, 0, numbers.dtype(), numbers.device());
  const Array place = storage.as_strided(sizes, strides, offset);
  if (!place.repeats_elements()) {
    place.copy_(numbers);
    return storage;
  }
  const Array positions = arange(extent, {.device = numbers.device()}).array();
  const Array goals = positions.as_strided(sizes, strides, offset).contiguous();
  sum_groups(kBackward, storage, {}, numbers.contiguous(), group_by(kBackward, goals, extent), 1,
             1);
  return storage;
}

// y is another view of x's storage;
// dx = dy put where y lies and read where x does, in equal shares where elements of x coincide
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

Tensor restrided(const Tensor& numbers, const Geometry& from, const Geometry& to) {
  const auto back = [=](const Tensor& grad) { return restrided(grad, to, from); };
  if (numbers.numel() == 0 || numel(to.sizes) == 0) {
    const Array zeros = Array::full(to.sizes, 0, numbers.dtype(), numbers.device());
    return record_view(kBackward, numbers, zeros, back);
  }
  const std::int64_t first = std::min(from.offset, to.offset);
  const std::int64_t extent = std::max(end_of(from), end_of(to)) - first;
  const Array storage = laid_out(numbers.array(), from.strides, from.offset - first, extent);
  return record_view(
      kBackward, numbers,
      storage.as_strided(to.sizes, to.strides, storage.storage_offset() + to.offset - first), back);
}

}  // namespace detail

Tensor as_strided(const Tensor& self, const Shape& size, const Shape& stride,
                  std::optional<std::int64_t> storage_offset) {
  const std::int64_t offset = storage_offset.value_or(self.storage_offset());
  if (offset < 0 || std::any_of(stride.begin(), stride.end(), [](auto s) { return s < 0; })) {
    throw std::invalid_argument("as_strided: expected strides and an offset >= 0, got strides " +
                                to_string(stride) + " and offset " + std::to_string(offset));
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
