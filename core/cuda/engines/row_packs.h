#pragma once

#include <cstdint>
#include <type_traits>

#include <halfgrad/core/array.h>
#include <halfgrad/core/cuda/engines/group.h>
#include <halfgrad/core/cuda/engines/pack_view.h>

/// Rows that a warp or a block of a hand-written kernel accesses in packs. Neighbouring threads
/// access neighbouring packs, so accesses are coalesced.
namespace halfgrad::detail {

/// Contiguous rows of whole packs, or an undefined array.
struct PackedRows {
  /// Returns whether `array` is undefined, or its rows are contiguous, aligned and whole packs.
  static bool fit(const Array& array) {
    if (!array.defined()) return true;
    const bool packed = array.dtype() == DType::f32 || is_reduced(array.dtype());
    return packed && array.ndim() > 0 && array.numel() > 0 && array.is_contiguous() &&
           array.sizes().back() % kPerThread == 0 &&
           reinterpret_cast<std::uintptr_t>(array.data()) % 16 == 0;
  }
  explicit PackedRows(const Array& array)
      : data(array.defined() ? array.data() : nullptr),
        dtype(array.defined() ? array.dtype() : DType::f32) {}

  __device__ void load(std::int64_t index, float (&values)[kPerThread]) const {
    load_packed(data, dtype, index, kPerThread, values);
  }
  /// Loads as load() does; sets all values to `otherwise` if the array is undefined.
  __device__ void load_or(float otherwise, std::int64_t index, float (&values)[kPerThread]) const {
    if (data != nullptr) return load(index, values);
#pragma unroll
    for (float& value : values) value = otherwise;
  }
  __device__ void store(std::int64_t index, const float (&values)[kPerThread]) const {
    store_packed(data, dtype, index, kPerThread, values);
  }

  std::byte* data;
  DType dtype;
};

inline constexpr int kRowThreads = 256;
inline constexpr int kRowWarps = kRowThreads / kWarp;
inline constexpr int kMostPacks = 4;  ///< packs of an operand in a thread's registers
inline constexpr std::int64_t kLongestRow = kRowThreads * kMostPacks * kPerThread;

/// Returns whether rows of n elements are too long for the registers of a warp, so blocks take
/// them.
inline bool rows_by_block(std::int64_t n) { return n > kWarp * kMostPacks * kPerThread; }

/// Calls f(std::integral_constant<int, packs a thread needs>) for rows of n <= kLongestRow.
template <class F>
void with_packs_for(std::int64_t n, const F& f) {
  const std::int64_t width = (rows_by_block(n) ? kRowThreads : kWarp) * kPerThread;
  if (n <= width) return f(std::integral_constant<int, 1>{});
  if (n <= 2 * width) return f(std::integral_constant<int, 2>{});
  f(std::integral_constant<int, kMostPacks>{});
}

/// Returns the row of this thread's group, if each group takes one.
inline __device__ std::int64_t row_of(const Group& group) {
  return group.size() > kWarp ? blockIdx.x
                              : static_cast<std::int64_t>(blockIdx.x) * kRowWarps +
                                    static_cast<std::int64_t>(threadIdx.x / kWarp);
}

/// Calls f(k, column) for each of this thread's packs in a row of n elements: pack k starts at
/// `column`.
template <int kPacks, class F>
__device__ void each_pack(const Group& group, int n, const F& f) {
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    const int column = (k * group.size() + group.rank()) * kPerThread;
    if (column < n) f(k, column);
  }
}

/// Returns the sum over the row of f(k, i), for element i of this thread's pack k.
template <int kPacks, class F>
__device__ float sum_of_row(const Group& group, int n, const F& f) {
  float sum = 0;
  each_pack<kPacks>(group, n, [&](int k, int) {
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) sum += f(k, i);
  });
  return group.combine(sum, [](float a, float b) { return a + b; });
}

}  // namespace halfgrad::detail
