#pragma once

#include <halfgrad/emulator/ptx/encoder.h>

namespace halfgrad::emulator {

/// Whether an operand is a part of a register, such as %r1.b0.
bool has_selectors(const Statement& statement);
/// Scalar video instructions with selectors, and vshl, vshr, vmad, vset.
void video_scalar(Encoder& encoder);

}  // namespace halfgrad::emulator
