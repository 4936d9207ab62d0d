#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// Sizes and strides of an array, with neighbouring dimensions merged where memory allows: a
/// contiguous [2, 3, 4] becomes one dimension of 24, its transpose(1, 2) stays three. Finds
/// elements by their index in row-major order.
class MergedStrides {
 public:
  /// Describes the elements of `array` broadcast to `sizes`.
  MergedStrides(const Array& array, const Shape& sizes);

  int dims() const { return dims_; }
  std::int64_t size(int dim) const { return sizes_[dim]; }
  std::int64_t stride(int dim) const { return strides_[dim]; }
  bool contiguous() const { return dims_ == 0 || (dims_ == 1 && strides_[0] == 1); }

  /// Returns the offset of element `begin` if elements [begin, begin + n) are contiguous in memory.
  /// Must not be called when contiguous().
  std::optional<std::int64_t> offset_of_run(std::int64_t begin, std::int64_t n) const;

  /// Cuts elements [begin, begin + n) into runs of one stride, and calls
  /// f(offset, stride, begin of the run, elements in the run) for each.
  template <class F>
  void for_each_run(std::int64_t begin, std::int64_t n, const F& f) const;

 private:
  Shape sizes_;
  Shape strides_;
  int dims_ = 0;
};

template <class F>
void MergedStrides::for_each_run(std::int64_t begin, std::int64_t n, const F& f) const {
  if (dims_ == 0) {
    f(std::int64_t{0}, std::int64_t{1}, begin, n);
    return;
  }
  const int inner = dims_ - 1;
  Shape index = sizes_;
  std::int64_t rest = begin;
  std::int64_t offset = 0;
  for (int i = inner; i >= 0; --i) {
    index[i] = rest % sizes_[i];
    rest /= sizes_[i];
    offset += index[i] * strides_[i];
  }
  const std::int64_t end = begin + n;
  while (true) {
    const std::int64_t count = std::min(sizes_[inner] - index[inner], end - begin);
    f(offset, strides_[inner], begin, count);
    begin += count;
    if (begin == end) return;
    offset -= index[inner] * strides_[inner];
    index[inner] = 0;
    for (int i = inner - 1; i >= 0; --i) {
      offset += strides_[i];
      if (++index[i] < sizes_[i]) break;
      offset -= sizes_[i] * strides_[i];
      index[i] = 0;
    }
  }
}

}  // namespace halfgrad::detail
