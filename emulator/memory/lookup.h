#pragma once

#include <cstddef>
#include <cstdint>

#include <halfgrad/emulator/memory/allocations.h>

namespace halfgrad::emulator {

/// Where the emulator finds `address`, if [address, address + bytes) lies in one live allocation;
/// nullptr otherwise. Remembers a few allocations for each host thread, so that most calls take no
/// lock.
std::byte* host_address(const Allocations& memory, std::uint64_t address, std::size_t bytes);

}  // namespace halfgrad::emulator
