#pragma once

#if !defined(__CUDACC__)
#error "expected nvcc: a file that includes core/engines/parallel.h is CUDA in a build with CUDA"
#endif

#include <halfgrad/core/cuda/engines/launch.h>

/// parallel_for_each on a GPU, one thread for each index. Bounded by memory, or by latency where
/// indices decide what is read; many threads hide latency.
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
