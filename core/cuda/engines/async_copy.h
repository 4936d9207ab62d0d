#pragma once

/// Copies from global to shared memory that run while their thread goes on, by PTX's cp.async. A
/// copy needs no registers. Other threads see what it wrote after its thread has waited for it, and
/// after a barrier.
namespace halfgrad::detail {

/// Starts to copy kBytes, 4 or 16, to which both addresses are aligned. Only the first `bytes` are
/// read; the others become 0.
template <int kBytes>
__device__ void copy_async(void* to, const void* from, int bytes) {
  static_assert(kBytes == 4 || kBytes == 16);
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (kBytes == 16) {  // past the L1 cache
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from),
                 "r"(bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from),
                 "r"(bytes)
                 : "memory");
  }
}

/// Ends a group of copies. A group may be empty.
__device__ inline void end_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until the copies of all groups but the newest `kNewest` have arrived.
template <int kNewest>
__device__ void wait_for_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kNewest) : "memory");
}

}  // namespace halfgrad::detail
