#pragma once

#include <halfgrad/emulator/simt/lanes.h>

namespace halfgrad::emulator {

/// Extra cycles of one access of a warp to shared memory (CUDA C++ Programming Guide, "Shared
/// Memory"). Shared memory has 32 banks of 4 bytes. A cycle serves one word of each bank, to any
/// number of lanes. Accesses of 8 bytes run as two halves of the warp, those of 16 bytes as four
/// quarters, so that each part could be served in one cycle.
unsigned bank_conflicts(LaneMask mask, const LaneAddresses& addresses, unsigned bytes);

}  // namespace halfgrad::emulator
