#include <halfgrad/emulator/memory/coalescing.h>

#include <algorithm>
#include <array>

namespace halfgrad::emulator {

Sectors sectors_of_range(std::uint64_t begin, std::uint64_t bytes) {
  const std::uint64_t touched = (begin + bytes - 1) / kSectorBytes - begin / kSectorBytes + 1;
  return {touched, (bytes + kSectorBytes - 1) / kSectorBytes, bytes};
}

Sectors sectors_of(LaneMask mask, const LaneAddresses& addresses, unsigned bytes) {
  std::array<std::uint64_t, kWarpSize> sorted;
  unsigned count = 0;
  bool ascending = true;
  each_lane(mask, [&](unsigned lane) {
    ascending &= count == 0 || sorted[count - 1] <= addresses[lane];
    sorted[count++] = addresses[lane];
  });
  if (!ascending) std::sort(sorted.begin(), sorted.begin() + count);

  Sectors sectors;
  std::uint64_t counted_to = 0;   // end of the bytes that are counted
  std::uint64_t next_sector = 0;  // first sector that is not counted
  for (unsigned i = 0; i < count; ++i) {
    const std::uint64_t begin = sorted[i], end = begin + bytes;
    sectors.bytes += end - std::clamp(counted_to, begin, end);
    counted_to = end;
    const std::uint64_t first = std::max(begin / kSectorBytes, next_sector);
    const std::uint64_t past = (end - 1) / kSectorBytes + 1;
    sectors.touched += std::max(past, first) - first;
    next_sector = past;
  }
  sectors.needed = (sectors.bytes + kSectorBytes - 1) / kSectorBytes;
  return sectors;
}

}  // namespace halfgrad::emulator
