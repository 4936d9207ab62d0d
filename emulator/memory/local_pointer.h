#pragma once

#include <cstdint>

#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {

/// Generic addresses of local memory. Each thread has a local memory of its own, so an address
/// means another place in every thread. Here it also names the thread that made it, between the
/// offset and the window: a pointer that is handed to another thread is found where it is used. On
/// a GPU the addresses of all threads are equal.
struct LocalPointer {
  static constexpr unsigned kOffsetBits = 24, kThreadBits = 11;
  static constexpr std::uint64_t kOffsetMask = (std::uint64_t{1} << kOffsetBits) - 1;

  /// The bits that name the thread of a lane; not 0.
  static std::uint64_t owner(const Warp& warp, unsigned lane) {
    const std::uint64_t thread = warp.index * kWarpSize + lane + 1;
    const std::uint64_t block = warp.block->number & kOffsetMask;
    return (thread | block << kThreadBits) << kOffsetBits;
  }
  /// The bits of an address that name its thread; 0: none, as of an address that the program made
  /// from a constant. An offset may be negative, such as that of the element before an array.
  static std::uint64_t owner_of(std::uint64_t address) {
    const std::uint64_t middle = std::uint64_t{1} << (kOffsetBits - 1);
    return ((address & ~(std::uint64_t{15} << 60)) + middle) & ~kOffsetMask;
  }
  static std::uint64_t offset_of(std::uint64_t address) {
    return (address & ~(std::uint64_t{15} << 60)) - owner_of(address);
  }
  /// Linear indices of the thread in its block and of the block in the grid, from such bits.
  static unsigned thread_of(std::uint64_t owner) {
    return static_cast<unsigned>(owner >> kOffsetBits & ((1u << kThreadBits) - 1)) - 1;
  }
  static std::uint64_t block_of(std::uint64_t owner) {
    return owner >> (kOffsetBits + kThreadBits);
  }
};

}  // namespace halfgrad::emulator
