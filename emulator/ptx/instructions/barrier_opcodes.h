#pragma once

#include <halfgrad/emulator/ptx/encoder.h>

namespace halfgrad::emulator {

/// Decodes bar and barrier: of a block, of a warp (bar.warp.sync), or of a cluster.
void decode_barrier(Encoder& encoder);

}  // namespace halfgrad::emulator
