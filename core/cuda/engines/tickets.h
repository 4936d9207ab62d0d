#pragma once

#include <cstdint>

#include <halfgrad/core/stream.h>

/// Tickets find the last block of a kernel to finish, which then combines what all blocks have
/// written: a sum over the grid in one launch. The blocks finish in any order, but the last one
/// adds the parts in the order of their indices, so the result has the same bits every time.
namespace halfgrad::detail {

/// The counters of one launch.
inline constexpr std::int64_t kTickets = 2049;

/// Returns kTickets counters of value 0 in the memory of a GPU, for a launch on `stream`. The
/// kernel must leave them at 0. Launches on one stream share their counters. A launch that is
/// captured in a graph gets counters of its own, which are never freed (8 KiB).
unsigned* tickets_for(const Stream& stream);

#if defined(__CUDACC__)
/// Returns whether this block is the last one of `blocks` that call it with this counter; resets
/// the counter then. All threads call it. The last block reads what the others wrote before.
inline __device__ bool is_last_block(unsigned* counter, unsigned blocks) {
  __shared__ bool last;
  __syncthreads();  // all threads have written
  if (blocks == 1) return true;
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(counter, 1U) == blocks - 1;
    __threadfence();
    if (last) *counter = 0;
  }
  __syncthreads();
  return last;
}
#endif

}  // namespace halfgrad::detail
