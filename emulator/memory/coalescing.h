#pragma once

#include <cstdint>

#include <halfgrad/emulator/simt/lanes.h>

namespace halfgrad::emulator {

/// What one access of a warp asks of global memory, which moves data in sectors of 32 bytes.
struct Sectors {
  std::uint64_t touched = 0;  ///< sectors that hold an accessed byte
  std::uint64_t needed = 0;   ///< the fewest sectors that could hold the accessed bytes
  std::uint64_t bytes = 0;    ///< distinct bytes: one that all lanes read counts once
};

inline constexpr unsigned kSectorBytes = 32;

/// Sectors of an access of `bytes` bytes by each active lane.
Sectors sectors_of(LaneMask mask, const LaneAddresses& addresses, unsigned bytes);

/// The same for one contiguous piece.
Sectors sectors_of_range(std::uint64_t begin, std::uint64_t bytes);

}  // namespace halfgrad::emulator
