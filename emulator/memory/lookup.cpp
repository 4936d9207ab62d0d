#include <halfgrad/emulator/memory/lookup.h>

#include <array>

namespace halfgrad::emulator {
namespace {

struct Range {
  std::uint64_t begin = 0;
  std::size_t bytes = 0;
  std::byte* host = nullptr;

  bool holds(std::uint64_t address, std::size_t size) const {
    return address - begin <= bytes && size <= bytes - (address - begin);
  }
};

/// Allocations that a thread used last.
struct RecentRanges {
  std::uint64_t generation = 0;
  std::array<Range, 8> ranges;
  unsigned next = 0;
};
thread_local RecentRanges recent;

}  // namespace

std::byte* host_address(const Allocations& memory, std::uint64_t address, std::size_t bytes) {
  RecentRanges& cache = recent;
  const std::uint64_t generation = memory.generation();
  if (cache.generation == generation) {
    for (const Range& range : cache.ranges) {
      if (range.holds(address, bytes)) return range.host + (address - range.begin);
    }
  } else {
    cache = {.generation = generation, .ranges = {}, .next = 0};
  }
  const Allocation* found = memory.find(address, bytes);
  if (found == nullptr) return nullptr;
  cache.ranges[cache.next] = {found->begin, found->bytes, found->host};
  cache.next = (cache.next + 1) % static_cast<unsigned>(cache.ranges.size());
  return found->host + (address - found->begin);
}

}  // namespace halfgrad::emulator
