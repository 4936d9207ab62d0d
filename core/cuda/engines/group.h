#pragma once

#include <cstddef>

#if !defined(__CUDACC__)
#error "expected nvcc: this header is for kernels"
#endif

namespace halfgrad::detail {

inline constexpr int kWarp = 32;
inline constexpr int kMaxWarps = 32;         ///< in a block
inline constexpr int kLargestCombined = 16;  ///< in bytes, of the values that Group combines
inline constexpr int kGroupBytes =
    kMaxWarps * kLargestCombined;  ///< part of a block's shared memory

/// Shared memory for one value of each warp. Not a template: a kernel that combines values of
/// several types needs it only once.
inline __device__ std::byte* warp_values() {
  __shared__ alignas(kLargestCombined) std::byte values[kGroupBytes];
  return values;
}

/// Threads that share a row: a warp, or a block of several warps. All of them call every member.
class Group {
 public:
  /// The group of the calling thread.
  __device__ explicit Group(bool whole_block)
      : whole_block_(whole_block),
        rank_(static_cast<int>(whole_block ? threadIdx.x : threadIdx.x % kWarp)),
        size_(whole_block ? static_cast<int>(blockDim.x) : kWarp) {}

  __device__ int rank() const { return rank_; }
  __device__ int size() const { return size_; }

  /// A barrier: all threads can read afterwards what any of them wrote before.
  __device__ void sync() const {
    if (whole_block_) {
      __syncthreads();
    } else {
      __syncwarp();
    }
  }

  /// Combines the values of all threads in a fixed order; each thread gets the result.
  template <class T, class Combine>
  __device__ T combine(T value, const Combine& combine) const {
    value = combine_warp(value, combine);
    return whole_block_ ? combine_warps(value, combine) : value;
  }

 private:
  static constexpr unsigned kAllLanes = 0xffffffff;

  // Both threads of a pair pass the lower lane's value first, so all lanes end with the same bits.
  template <class T, class Combine>
  __device__ T combine_warp(T value, const Combine& combine) const {
#pragma unroll
    for (int distance = 1; distance < kWarp; distance *= 2) {
      const T other = __shfl_xor_sync(kAllLanes, value, distance);
      value = (rank_ & distance) == 0 ? combine(value, other) : combine(other, value);
    }
    return value;
  }

  template <class T, class Combine>
  __device__ T combine_warps(T value, const Combine& combine) const {
    static_assert(sizeof(T) <= kLargestCombined && alignof(T) <= kLargestCombined);
    T* const of_warp = reinterpret_cast<T*>(warp_values());
    if (rank_ % kWarp == 0) of_warp[rank_ / kWarp] = value;
    __syncthreads();
    T total = of_warp[0];
    for (int warp = 1; warp < size_ / kWarp; ++warp) total = combine(total, of_warp[warp]);
    __syncthreads();  // before the next call writes
    return total;
  }

  bool whole_block_;
  int rank_;
  int size_;
};

}  // namespace halfgrad::detail
