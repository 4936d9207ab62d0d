#pragma once

#include <cstddef>
#include <cstdint>

#include <halfgrad/emulator/memory/allocations.h>

namespace halfgrad::emulator {

/// Addresses of one live allocation, and where the emulator finds them.
struct HostRange {
  std::uint64_t begin = 0;
  std::size_t bytes = 0;
  std::byte* host = nullptr;
  int owner = kEveryDevice;  ///< device that other devices need a right to access
  static constexpr int kEveryDevice = -1;

  bool holds(std::uint64_t address, std::size_t size) const {
    return address - begin <= bytes && size <= bytes - (address - begin);
  }
  std::byte* at(std::uint64_t address) const { return host + (address - begin); }
};

/// The allocation that holds [address, address + bytes); `host` is nullptr if none does. Remembers
/// a few allocations for each host thread, so that most calls take no lock.
HostRange host_range(const Allocations& memory, std::uint64_t address, std::size_t bytes);

}  // namespace halfgrad::emulator
