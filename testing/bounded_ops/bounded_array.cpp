#include <halfgrad/testing/bounded_array.h>

#include <stdexcept>
#include <utility>

#include <halfgrad/core/fail.h>
#include <halfgrad/testing/bounded_ops/recorded.h>

namespace halfgrad::testing {
namespace {

Elements exact(const AnyArithmetic& a, const Values& values) {
  Elements elements;
  elements.reserve(values.data.size());
  for (const double x : values.data) elements.push_back(a.number(x));
  return elements;
}

}  // namespace

BoundedArray::BoundedArray(Arithmetic arithmetic, const Shape& sizes, Elements elements)
    : arithmetic_(std::move(arithmetic)),
      sizes_(sizes),
      elements_(std::make_shared<const Elements>(std::move(elements))) {
  if (elements_->size() == static_cast<std::size_t>(numel())) return;
  halfgrad::detail::fail("BoundedArray", "expected {} elements for shape {}, got {}", numel(),
                         sizes, elements_->size());
}

BoundedArray::BoundedArray(const Arithmetic& arithmetic, const Values& values)
    : BoundedArray(arithmetic, values.sizes, exact(*arithmetic, values)) {}

std::int64_t BoundedArray::size(std::int64_t d) const { return sizes_[wrap_dim(d, dim(), "size")]; }

Values BoundedArray::values() const {
  Values result{sizes_, {}};
  for (const Bounded& each : elements()) result.data.push_back(each.value);
  return result;
}

const AnyArithmetic& BoundedArray::math() const {
  if (!defined()) halfgrad::detail::fail("BoundedArray", "expected a defined array");
  return *arithmetic_;
}

BoundedArray BoundedArray::t() const {
  if (dim() != 2) halfgrad::detail::fail("t", "expected a matrix, got {}", sizes_);
  return transpose(0, 1);
}

BoundedArray BoundedArray::transpose(std::int64_t dim0, std::int64_t dim1) const {
  Shape order;
  for (int d = 0; d < dim(); ++d) order.push_back(d);
  std::swap(order[wrap_dim(dim0, dim(), "transpose")], order[wrap_dim(dim1, dim(), "transpose")]);
  return permute(*this, order);
}

BoundedArray BoundedArray::reshape(const Shape& sizes) const {
  Shape whole = sizes;
  std::int64_t known = 1;
  int open = -1;
  for (int d = 0; d < whole.size(); ++d) {
    if (whole[d] == -1 && open < 0) {
      open = d;
    } else {
      known *= whole[d];
    }
  }
  if (open >= 0 && known > 0) whole[open] = numel() / known;
  if ((open >= 0 && known == 0) || halfgrad::numel(whole) != numel()) {
    halfgrad::detail::fail("reshape", "expected a shape of {} elements for {}, got {}", numel(),
                           sizes_, sizes);
  }
  BoundedArray y = *this;
  y.sizes_ = whole;
  y.factors_ = nullptr;
  return detail::Recorder::recorded(
      std::move(y), {*this},
      [](const detail::Inputs& in, const BoundedArray&, const BoundedArray& dy) {
        return detail::Inputs{dy.reshape(in[0].sizes())};
      });
}

}  // namespace halfgrad::testing
