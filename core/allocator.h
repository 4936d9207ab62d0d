#pragma once

#include <cstddef>
#include <cstdint>

#include <halfgrad/core/device.h>

/// The caching allocator behind every Array. Freed blocks are kept in lists by size class and
/// handed out again, so a training loop stops asking the system after its first step.
namespace halfgrad::allocator {

/// All figures in bytes, after rounding up to the size class, except the counters.
struct Stats {
  std::int64_t current = 0;          ///< held by live arrays
  std::int64_t peak = 0;             ///< highest `current` since start or reset_peak()
  std::int64_t cached = 0;           ///< freed, kept for reuse
  std::int64_t allocations = 0;      ///< calls to allocate() that succeeded
  std::int64_t system_requests = 0;  ///< of these, how many had to ask the system
};

/// A block of at least `bytes` bytes, aligned to 64. Zero bytes give nullptr.
/// Throws std::runtime_error when the system, the limit or fault injection refuses; before that
/// the cache is emptied and the request tried once more.
void* allocate(Device device, std::size_t bytes);

/// Takes a block back; `bytes` must be what was asked for.
void deallocate(Device device, void* block, std::size_t bytes) noexcept;

Stats stats(Device device);
void reset_peak(Device device);

/// Gives cached blocks back to the system.
void empty_cache(Device device);

/// Refuses allocations that would bring `current` above this many bytes; 0 lifts the limit.
void set_limit(Device device, std::size_t bytes);

/// Fault injection for tests: the n-th allocation from now (1 = the next) fails, once;
/// 0 disarms.
void fail_allocation(Device device, std::int64_t n);

}  // namespace halfgrad::allocator
