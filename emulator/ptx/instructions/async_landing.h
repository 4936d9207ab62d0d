#pragma once

#include <cstdint>

#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {

/// Lets the copies of a lane land in shared memory, oldest group first, until `keep` committed
/// groups are under way.
void land_groups(Execution& execution, unsigned lane, std::size_t keep);

/// Copies `bytes` bytes to their place in shared memory, for a lane that waited for them.
void land(Execution& execution, unsigned lane, std::uint32_t shared_offset, const std::byte* data,
          unsigned bytes);

/// Copies `bytes` bytes to their place in the block's memory when the mbarrier phase that counts
/// the copy completes.
void land_for_barrier(Execution& execution, std::uint32_t shared_offset, const std::byte* data,
                      unsigned bytes);

}  // namespace halfgrad::emulator
