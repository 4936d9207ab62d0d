#pragma once

#include <string>

#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {

/// Says what a lane of block `own` waits for: "the phase of parity 0 of the mbarrier at byte 1024
/// of shared memory, which lacks 1 of 2 arrivals and 512 of 1024 expected bytes".
std::string text_of(const MbarrierWait& wait, const Block& own);

}  // namespace halfgrad::emulator
