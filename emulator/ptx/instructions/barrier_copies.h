#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <halfgrad/emulator/memory/access.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {

/// Calls f(place, offset, bytes) for pieces of [address, address + bytes) of one lane. `access`
/// says how; `stored` are the bytes of a store, or nullptr. A piece ends at a multiple of 128, so
/// that it lies in one page of the checks.
template <class F>
void each_piece(const Execution& execution, const Instruction& instruction, unsigned lane,
                Access access, std::uint64_t address, std::uint32_t bytes, const std::byte* stored,
                F f) {
  constexpr unsigned kPiece = 128;  // bytes that one check covers
  Execution one = execution;
  one.mask = LaneMask{1} << lane;
  std::array<std::array<std::byte, kPiece>, kWarpSize> values;  // a row a lane, as resolve() reads
  for (std::uint32_t offset = 0, size = 0; offset < bytes; offset += size) {
    const auto left = static_cast<std::uint32_t>(kPiece - (address + offset) % kPiece);
    size = std::min(left, bytes - offset);
    access.bytes = static_cast<std::uint8_t>(size);
    LaneAddresses addresses{};
    addresses[lane] = address + offset;
    std::byte* row = values[0].data() + std::size_t{lane} * size;
    if (stored != nullptr) std::memcpy(row, stored + offset, size);
    const HostPointers places = resolve(one, instruction, access, addresses,
                                        stored == nullptr ? nullptr : values[0].data());
    f(places.lane[lane], offset, size);
  }
}

/// Bulk copies signal their mbarrier by the asynchronous proxy, st.async and red.async do not.
enum class SignalPath { bulk_copy, store };

/// Issues a lane's copy of `data` to shared memory of a block of the cluster. It lands when the
/// phase of that block's mbarrier completes. Returns the block.
Block& issue_copy(Execution& execution, const Instruction& instruction, unsigned lane,
                  unsigned alignment, std::uint64_t to, std::uint64_t barrier,
                  const std::vector<std::byte>& data, SignalPath path);

/// Tells an mbarrier of the cluster that `bytes` bytes which it waits for have been written.
void complete_bytes(Execution& execution, const Instruction& instruction, unsigned lane,
                    std::uint64_t to, std::uint64_t barrier, std::uint32_t bytes, SignalPath path);

}  // namespace halfgrad::emulator
