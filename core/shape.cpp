#include <halfgrad/core/shape.h>

#include <ostream>
#include <stdexcept>

#include <halfgrad/core/fail.h>

namespace halfgrad {

void Shape::refuse_count(std::size_t count) {
  detail::fail("Shape", "expected at most {} dimensions, got {}", kMaxDims, count);
}

std::int64_t Shape::at(int i) const {
  if (i < 0 || i >= count_) {
    detail::fail<std::out_of_range>("Shape", "expected a position in [0, {}), got {}", count_, i);
  }
  return (*this)[i];
}

ShapeSlice ShapeSlice::slice(int first, int count) const {
  if (first < 0 || count < 0 || count > count_ - first) {
    detail::fail<std::out_of_range>("Shape", "expected {} values from {}, got {} in all", count,
                                    first, count_);
  }
  return {values_ + first, count};
}

void Shape::push_back(std::int64_t value) { insert(count_, value); }

void Shape::insert(int position, std::int64_t value) {
  if (count_ == kMaxDims) refuse_count(kMaxDims + 1);
  std::copy_backward(values_.begin() + position, values_.begin() + count_,
                     values_.begin() + count_ + 1);
  (*this)[position] = value;
  ++count_;
}

void Shape::erase(int position) {
  std::copy(values_.begin() + position + 1, values_.begin() + count_, values_.begin() + position);
  --count_;
  values_[static_cast<std::size_t>(count_)] = 0;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (int i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }

Shape contiguous_strides(const Shape& sizes) {
  Shape strides = sizes;
  std::int64_t stride = 1;
  for (int i = sizes.size() - 1; i >= 0; --i) {
    strides[i] = stride;
    // Overflow is harmless: it needs a size of 0, so there is no element to address.
    if (__builtin_mul_overflow(stride, std::max<std::int64_t>(sizes[i], 1), &stride)) stride = 1;
  }
  return strides;
}

Shape broadcast_shapes(const Shape& a, const Shape& b, const char* op) {
  if (a == b) return a;
  Shape result = a.size() >= b.size() ? a : b;
  const int shift_a = result.size() - a.size();
  const int shift_b = result.size() - b.size();
  for (int i = 0; i < result.size(); ++i) {
    const std::int64_t size_a = i < shift_a ? 1 : a[i - shift_a];
    const std::int64_t size_b = i < shift_b ? 1 : b[i - shift_b];
    if (size_a != size_b && size_a != 1 && size_b != 1) {
      detail::fail(op, "expected shapes that broadcast, got {} and {}", a, b);
    }
    result[i] = size_a == 1 ? size_b : size_a;
  }
  return result;
}

bool expands_to(const Shape& from, const Shape& sizes) {
  const int added = sizes.size() - from.size();
  bool fits = added >= 0;
  for (int i = 0; fits && i < from.size(); ++i) fits = from[i] == 1 || from[i] == sizes[added + i];
  return fits;
}

int wrap_dim(std::int64_t dim, int ndim, const char* op) {
  const int n = std::max(ndim, 1);
  if (dim < -n || dim >= n) {
    detail::fail<std::out_of_range>(op, "expected a dimension in [{}, {}], got {}", -n, n - 1, dim);
  }
  return static_cast<int>(dim < 0 ? dim + n : dim);
}

}  // namespace halfgrad
