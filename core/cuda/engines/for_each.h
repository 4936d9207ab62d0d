#pragma once

#if !defined(__CUDACC__)
#error "expected nvcc: list a source that includes core/engines/parallel.h in halfgrad_kernels()"
#endif

#include <halfgrad/core/cuda/engines/launch.h>

/// parallel_for_each on a GPU, one thread for each index. It is bounded by memory, or by latency if
/// the indices decide which elements are read; many threads hide latency.
namespace halfgrad::detail {

inline constexpr int kForEachThreads = 256;

template <class F>
__global__ void for_each_kernel(const __grid_constant__ F f, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kForEachThreads + threadIdx.x;
  if (i < n) f(i);
}

template <class F>
void launch_for_each(const char* op, Device device, std::int64_t n, const F& f) {
  static_assert(std::is_trivially_copyable_v<F>);
  if (n == 0) return;
  const Launch launch(device, op, {n});
  const unsigned blocks = blocks_for(n, kForEachThreads);
  for_each_kernel<<<blocks, kForEachThreads, 0, launch.stream()>>>(f, n);
  launch.check();
}

}  // namespace halfgrad::detail
