#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace halfgrad::emulator {

inline constexpr unsigned kWarpSize = 32;

/// A set of lanes of a warp: bit i is lane i.
using LaneMask = std::uint32_t;
inline constexpr LaneMask kAllLanes = 0xffffffffu;

/// Addresses of all lanes; those of inactive lanes mean nothing.
using LaneAddresses = std::array<std::uint64_t, kWarpSize>;

/// Calls f(lane) for each lane of the mask, lowest first.
template <class F>
void each_lane(LaneMask mask, F f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<unsigned>(std::countr_zero(mask)));
}

inline unsigned first_lane(LaneMask mask) { return static_cast<unsigned>(std::countr_zero(mask)); }

/// Sizes and indices of grids and blocks.
struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
  std::uint64_t product() const { return std::uint64_t{x} * y * z; }
};

}  // namespace halfgrad::emulator
