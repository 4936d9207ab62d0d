#pragma once

#include <cstdint>

#include <halfgrad/emulator/simt/lanes.h>

namespace halfgrad::emulator {

/// Traffic of one access of a warp to global memory, which moves data in sectors of 32 bytes.
struct Sectors {
  std::uint64_t touched = 0;  ///< sectors that hold an accessed byte
  std::uint64_t needed = 0;   ///< the fewest sectors that could hold the accessed bytes
  std::uint64_t bytes = 0;    ///< distinct bytes: a byte that all lanes read counts once
};

inline constexpr unsigned kSectorBytes = 32;

/// Sectors of an access of `bytes` bytes by each active lane.
Sectors sectors_of(LaneMask mask, const LaneAddresses& addresses, unsigned bytes);

/// Sectors of an access to the `bytes` contiguous bytes from `begin`.
Sectors sectors_of_range(std::uint64_t begin, std::uint64_t bytes);

}  // namespace halfgrad::emulator
