#include <halfgrad/core/array.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include <halfgrad/core/fail.h>

// Views of an Array: other sizes, strides and offset over the same storage.
namespace halfgrad {
namespace {

/// Number of elements of a view; empty if an element is outside [0, capacity).
std::optional<std::int64_t> count_inside(std::int64_t capacity, const Shape& sizes,
                                         const Shape& strides, std::int64_t offset) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) return std::nullopt;
  }
  if (count == 0) return 0;
  std::int64_t first = offset, last = offset;
  for (int i = 0; i < sizes.size(); ++i) {
    std::int64_t& end = strides[i] < 0 ? first : last;
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) ||
        __builtin_add_overflow(end, reach, &end)) {
      return std::nullopt;
    }
  }
  if (first < 0 || last >= capacity) return std::nullopt;
  return count;
}

bool row_major(const Shape& sizes, const Shape& strides) {
  const Shape expected = contiguous_strides(sizes);
  bool same = true;
  for (int i = 0; i < sizes.size(); ++i) same &= sizes[i] == 1 || strides[i] == expected[i];
  return same;
}

// Returns strides that give `sizes` without moving data, if they exist: splits runs of old
// dimensions that merge into one stride, innermost first, into the new dimensions.
std::optional<Shape> view_strides(const Array& array, const Shape& sizes) {
  if (array.is_contiguous() || array.numel() == 0) return contiguous_strides(sizes);
  Shape strides = sizes;
  int target = sizes.size() - 1;
  std::int64_t run = 1;   // elements of the current run that no new dimension covers yet
  std::int64_t step = 0;  // stride of the next new dimension
  std::optional<std::int64_t> expected;  // stride of an old dimension that continues the run
  const auto cut = [&] {
    while (target >= 0 && (run > 1 || sizes[target] == 1) && run % sizes[target] == 0) {
      strides[target] = step;
      step *= sizes[target];
      run /= sizes[target];
      --target;
    }
    return run == 1;
  };
  for (int i = array.ndim() - 1; i >= 0; --i) {
    if (array.sizes()[i] == 1) continue;
    if (array.strides()[i] != expected) {
      if (!cut()) return std::nullopt;
      step = array.strides()[i];
    }
    run *= array.sizes()[i];
    expected = array.strides()[i] * array.sizes()[i];
  }
  return cut() && target < 0 ? std::optional(strides) : std::nullopt;
}

}  // namespace

std::pair<std::uintptr_t, std::uintptr_t> detail::memory_of(const Array& array) {
  const auto begin = reinterpret_cast<std::uintptr_t>(array.data());
  if (array.numel() == 0) return {begin, begin};
  std::int64_t first = 0, last = 0;
  for (int i = 0; i < array.ndim(); ++i) {
    (array.strides()[i] < 0 ? first : last) += (array.sizes()[i] - 1) * array.strides()[i];
  }
  const auto item = static_cast<std::int64_t>(item_size(array.dtype()));
  return {begin + static_cast<std::uintptr_t>(first * item),
          begin + static_cast<std::uintptr_t>((last + 1) * item)};
}

Shape infer_size(const Shape& sizes, std::int64_t numel) {
  Shape result = sizes;
  int inferred = -1;
  std::int64_t known = 1;
  bool valid = true;
  for (int i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1 && inferred < 0) {
      inferred = i;
    } else {
      valid = valid && sizes[i] >= 0 && !__builtin_mul_overflow(known, sizes[i], &known);
    }
  }
  if (inferred >= 0 && known > 0 && numel % known == 0) {
    result[inferred] = numel / known;
    known = numel;
  }
  if (!valid || known != numel || (inferred >= 0 && result[inferred] < 0)) {
    detail::fail("reshape", "expected sizes for {} elements, got {}", numel, sizes);
  }
  return result;
}

Array Array::as_strided(const Shape& sizes, const Shape& strides, std::int64_t offset) const {
  if (sizes.size() != strides.size()) {
    detail::fail("as_strided", "expected as many strides as sizes, got {} and {}", sizes, strides);
  }
  const auto item = static_cast<std::int64_t>(item_size(dtype_));
  const auto capacity = static_cast<std::int64_t>(storage_->bytes()) / item;
  const auto count = count_inside(capacity, sizes, strides, offset);
  if (!count) {
    detail::fail("as_strided",
                 "expected a view inside the storage's {} elements, got sizes {}, strides {}, "
                 "offset {}",
                 capacity, sizes, strides, offset);
  }
  Array result = *this;
  result.sizes_ = sizes;
  result.strides_ = strides;
  result.offset_ = offset;
  result.numel_ = *count;
  result.contiguous_ = *count == 0 || row_major(sizes, strides);
  return result;
}

Array Array::view(DType dtype) const {
  const auto old_size = static_cast<std::int64_t>(item_size(dtype_));
  const auto new_size = static_cast<std::int64_t>(item_size(dtype));
  Array result = *this;
  result.dtype_ = dtype;
  if (old_size == new_size) return result;
  const int last = ndim() - 1;
  bool fits = last >= 0 && (strides_[last] == 1 || numel_ == 0);
  const auto rescale = [&](std::int64_t& value) {
    const std::int64_t bytes = value * old_size;
    fits = fits && bytes % new_size == 0;
    value = bytes / new_size;
  };
  rescale(result.offset_);
  for (int i = 0; i < last; ++i) rescale(result.strides_[i]);
  if (last >= 0) rescale(result.sizes_[last]);
  if (!fits) {
    detail::fail(
        "view",
        "expected a last dimension of stride 1, and sizes and strides of whole elements of "
        "{}, got sizes {} and strides {} of {}",
        dtype, sizes_, strides_, dtype_);
  }
  result.numel_ = numel_ * old_size / new_size;
  result.contiguous_ = result.numel_ == 0 || row_major(result.sizes_, result.strides_);
  return result;
}

Array Array::permute(const Shape& dims) const {
  if (dims.size() != ndim()) {
    detail::fail("permute", "expected {} dimensions, got {}", ndim(), dims);
  }
  Shape sizes = sizes_;
  Shape strides = strides_;
  unsigned seen = 0;
  for (int i = 0; i < ndim(); ++i) {
    const int from = wrap_dim(dims[i], ndim(), "permute");
    seen |= 1U << static_cast<unsigned>(from);
    sizes[i] = sizes_[from];
    strides[i] = strides_[from];
  }
  if (seen + 1 != 1U << static_cast<unsigned>(ndim())) {
    detail::fail("permute", "expected each dimension once, got {}", dims);
  }
  return as_strided(sizes, strides, offset_);
}

Array Array::transpose(std::int64_t dim0, std::int64_t dim1) const {
  const int a = wrap_dim(dim0, ndim(), "transpose");
  const int b = wrap_dim(dim1, ndim(), "transpose");
  if (ndim() == 0) return *this;
  Shape sizes = sizes_;
  Shape strides = strides_;
  std::swap(sizes[a], sizes[b]);
  std::swap(strides[a], strides[b]);
  return as_strided(sizes, strides, offset_);
}

Array Array::expand(const Shape& sizes) const {
  if (sizes == sizes_) return *this;
  const int added = sizes.size() - ndim();
  const auto refuse = [&] {
    detail::fail("expand", "expected sizes that {} can be repeated to, got {}", sizes_, sizes);
  };
  if (added < 0) refuse();
  Shape result = sizes;
  Shape strides = sizes;
  std::int64_t elements = 1;
  for (int i = 0; i < sizes.size(); ++i) {
    const std::int64_t from = i < added ? 1 : sizes_[i - added];
    if (sizes[i] == -1 && i >= added) result[i] = from;
    if (result[i] < 0 || (from != 1 && from != result[i])) refuse();
    if (__builtin_mul_overflow(elements, result[i], &elements)) {
      detail::fail("expand", "expected fewer than 2^63 elements, got sizes {}", sizes);
    }
    strides[i] = i < added || (from == 1 && result[i] != 1) ? 0 : strides_[i - added];
  }
  return as_strided(result, strides, offset_);
}

Array Array::reshape(const Shape& sizes) const {
  const Shape wanted = infer_size(sizes, numel_);
  const Array source = view_strides(*this, wanted) ? *this : contiguous();
  return source.as_strided(wanted, *view_strides(source, wanted), source.offset_);
}

Array Array::slice(std::int64_t dim, std::int64_t start, std::int64_t end,
                   std::int64_t step) const {
  const int d = wrap_dim(dim, ndim(), "slice");
  if (ndim() == 0 || step <= 0) {
    detail::fail("slice", "expected at least one dimension and a step > 0, got {} and step {}",
                 sizes_, step);
  }
  const std::int64_t size = sizes_[d];
  const auto clamp = [size](std::int64_t i) {
    return std::clamp<std::int64_t>(i < 0 ? i + size : i, 0, size);
  };
  start = clamp(start);
  end = std::max(start, clamp(end));
  Shape sizes = sizes_;
  Shape strides = strides_;
  sizes[d] = end == start ? 0 : (end - start - 1) / step + 1;
  if (sizes[d] > 1) strides[d] *= step;
  return as_strided(sizes, strides, offset_ + start * strides_[d]);
}

Array Array::select(std::int64_t dim, std::int64_t index) const {
  const int d = wrap_dim(dim, ndim(), "select");
  if (ndim() == 0) {
    detail::fail<std::out_of_range>("select",
                                    "expected at least one dimension, got {} and index {}; item() "
                                    "returns the only element",
                                    sizes_, index);
  }
  const std::int64_t size = sizes_[d];
  if (index < -size || index >= size) {
    detail::fail<std::out_of_range>("select",
                                    "expected an index in [{}, {}] for dimension {} of {}, got {}",
                                    -size, size - 1, d, sizes_, index);
  }
  Shape sizes = sizes_;
  Shape strides = strides_;
  sizes.erase(d);
  strides.erase(d);
  return as_strided(sizes, strides, offset_ + (index < 0 ? index + size : index) * strides_[d]);
}

Array Array::unsqueeze(std::int64_t dim) const {
  const int d = wrap_dim(dim, ndim() + 1, "unsqueeze");
  Shape sizes = sizes_;
  Shape strides = strides_;
  strides.insert(d, d < ndim() ? sizes[d] * strides[d] : 1);
  sizes.insert(d, 1);
  return as_strided(sizes, strides, offset_);
}

Array Array::squeeze(std::int64_t dim) const {
  const int d = wrap_dim(dim, ndim(), "squeeze");
  if (ndim() == 0 || sizes_[d] != 1) return *this;
  Shape sizes = sizes_;
  Shape strides = strides_;
  sizes.erase(d);
  strides.erase(d);
  return as_strided(sizes, strides, offset_);
}

}  // namespace halfgrad
