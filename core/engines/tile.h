#pragma once

#include <algorithm>
#include <cstdint>

#include <halfgrad/core/array.h>
#include <halfgrad/core/engines/merged_strides.h>
#include <halfgrad/core/thread_pool.h>

/// A tile is a contiguous buffer of about a thousand elements in the compute type T (double, float
/// or int64_t). The CPU's engines read operands and write results in tiles, so a formula never
/// handles 16-bit elements or strides. Each result is rounded once, when its tile is stored.
namespace halfgrad::detail {

/// Elements per tile: four tiles of float fill half of a 32 KiB L1 cache.
inline constexpr std::int64_t kTile = 1024;

/// Elements per task of the thread pool in elementwise work: about 10 microseconds.
inline constexpr std::int64_t kGrain = 32 * kTile;

/// An array, perhaps broadcast, that is read and written in tiles, whatever its dtype and strides.
class TileView {
 public:
  /// The elements of `array` broadcast to `sizes`.
  TileView(const Array& array, const Shape& sizes)
      : strides_(array, sizes), data_(array.data()), dtype_(array.dtype()) {}
  explicit TileView(const Array& array) : TileView(array, array.sizes()) {}

  /// Returns elements [begin, begin + n) converted to T: a pointer to the array's own memory if no
  /// conversion or gather is needed, else `scratch`, filled.
  template <class T>
  const T* read(std::int64_t begin, std::int64_t n, T* scratch) const;

  /// Returns where to write elements from `begin` on before commit(): the array's own memory if it
  /// is contiguous and of type T, else `scratch`.
  template <class T>
  T* target(std::int64_t begin, T* scratch) const {
    const bool in_place = dtype_ == dtype_of<T>() && strides_.contiguous();
    return in_place ? reinterpret_cast<T*>(data_) + begin : scratch;
  }

  /// Converts and stores the n elements written at `values`, the pointer that target() returned.
  template <class T>
  void commit(std::int64_t begin, std::int64_t n, const T* values) const;

 private:
  MergedStrides strides_;
  std::byte* data_;
  DType dtype_;
};

// Calls f(begin, n) for every tile of n elements, in parallel. Tiles are independent, because `out`
// aliases an operand exactly or does not overlap it.
template <class F>
void for_each_tile(std::int64_t n, const F& f) {
  parallel_for(0, n, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += kTile) f(at, std::min(kTile, end - at));
  });
}

}  // namespace halfgrad::detail
