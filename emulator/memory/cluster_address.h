#pragma once

#include <cstdint>

namespace halfgrad::emulator {

/// Addresses of shared::cluster: mapa puts the rank of the block, plus one, above the offset. An
/// address without a rank is one of the own block, as the PTX ISA has it ("State Spaces").
inline constexpr unsigned kRankShift = 24;
inline constexpr std::uint64_t kOffsetMask = (std::uint64_t{1} << kRankShift) - 1;

inline std::uint64_t cluster_address(unsigned rank, std::uint64_t offset) {
  return (std::uint64_t{rank} + 1) << kRankShift | (offset & kOffsetMask);
}

}  // namespace halfgrad::emulator
