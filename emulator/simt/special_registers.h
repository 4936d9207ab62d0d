#pragma once

#include <halfgrad/emulator/simt/launch.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {

/// Writes the special registers that `frame` reads (PTX ISA, "Special Registers"): those that stay
/// the same from block to block, or those that change.
void fill_launch_specials(const Launch& launch, const Warp& warp, Frame& frame);
void fill_block_specials(const Launch& launch, const Warp& warp, Frame& frame);

}  // namespace halfgrad::emulator
