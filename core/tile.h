#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <halfgrad/core/array.h>
#include <halfgrad/core/thread_pool.h>

/// Tiles: how the CPU's engines see memory. A kernel never meets a 16-bit number or a stride. Its
/// operands arrive as short contiguous runs in the compute type T (double, float or int64_t), and
/// its result leaves as one: rounded once, scattered to wherever the output lies.
namespace halfgrad::detail {

/// Elements per tile: four float operands of this size share a 32 KiB first-level cache.
inline constexpr std::int64_t kTile = 1024;

/// Elements per task of the thread pool in elementwise work: about ten microseconds.
inline constexpr std::int64_t kGrain = 32 * kTile;

/// A strided view of memory as a list of `size` elements in row-major order, with dimensions that
/// are laid out evenly merged.
class Layout {
 public:
  /// The elements of `array` as it is broadcast to `sizes`.
  Layout(const Array& array, const Shape& sizes);

  int dims() const { return dims_; }
  std::int64_t size(int dim) const { return sizes_[dim]; }
  std::int64_t stride(int dim) const { return strides_[dim]; }
  bool contiguous() const { return dims_ == 0 || (dims_ == 1 && strides_[0] == 1); }

  /// Where elements [begin, begin + n) start, if they lie side by side. Not for contiguous().
  std::optional<std::int64_t> offset_of_run(std::int64_t begin, std::int64_t n) const;

  /// Calls f(offset, stride, begin, count) for consecutive evenly spaced runs that together make
  /// up elements [begin, begin + n); `offset` in elements from the view's first element.
  template <class F>
  void for_each_run(std::int64_t begin, std::int64_t n, const F& f) const;

 private:
  Shape sizes_;
  Shape strides_;
  int dims_ = 0;
};

class TileReader {
 public:
  TileReader(const Array& array, const Shape& sizes)
      : layout_(array, sizes), data_(array.data()), dtype_(array.dtype()) {}

  /// Elements [begin, begin + n) in type T: in place if they lie so, else copied to `scratch`.
  template <class T>
  const T* read(std::int64_t begin, std::int64_t n, T* scratch) const;

 private:
  Layout layout_;
  const std::byte* data_;
  DType dtype_;
};

class TileWriter {
 public:
  explicit TileWriter(const Array& array)
      : layout_(array, array.sizes()), data_(array.data()), dtype_(array.dtype()) {}

  /// Where to put elements [begin, ...) of type T before commit(): in place if possible.
  template <class T>
  T* target(std::int64_t begin, T* scratch) const {
    const bool in_place = dtype_ == dtype_of<T>() && layout_.contiguous();
    return in_place ? reinterpret_cast<T*>(data_) + begin : scratch;
  }

  /// Stores what was put at `values`, the pointer target() gave.
  template <class T>
  void commit(std::int64_t begin, std::int64_t n, const T* values) const;

 private:
  Layout layout_;
  std::byte* data_;
  DType dtype_;
};

// In-place work must not be split where a tile would be read after another has overwritten it:
// `out` is either an operand element for element, or a stranger, so tiles stay independent.
template <class F>
void for_each_tile(std::int64_t n, const F& f) {
  parallel_for(0, n, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += kTile) f(at, std::min(kTile, end - at));
  });
}

}  // namespace halfgrad::detail
