#include <halfgrad/emulator/memory/lookup.h>

#include <array>

namespace halfgrad::emulator {
namespace {

/// Allocations that a thread used last.
struct RecentRanges {
  std::uint64_t generation = 0;
  std::array<HostRange, 8> ranges;
  unsigned next = 0;
};
thread_local RecentRanges recent;

}  // namespace

HostRange host_range(const Allocations& memory, std::uint64_t address, std::size_t bytes) {
  RecentRanges& cache = recent;
  const std::uint64_t generation = memory.generation();
  if (cache.generation == generation) {
    for (const HostRange& range : cache.ranges) {
      if (range.holds(address, bytes)) return range;
    }
  } else {
    cache = {.generation = generation, .ranges = {}, .next = 0};
  }
  const Allocation* found = memory.find(address, bytes);
  if (found == nullptr) return {};
  HostRange& range = cache.ranges[cache.next];
  cache.next = (cache.next + 1) % static_cast<unsigned>(cache.ranges.size());
  const bool shared = found->kind == MemoryKind::pinned || found->kind == MemoryKind::managed;
  range = {found->begin, found->bytes, found->host,
           shared ? HostRange::kEveryDevice : found->device};
  return range;
}

}  // namespace halfgrad::emulator
