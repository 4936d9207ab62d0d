#pragma once

#include <halfgrad/emulator/ptx/instruction.h>

namespace halfgrad::emulator {

/// An instruction that aborts the kernel with the statement's text and Function::unknown's reason.
Instruction unknown_instruction();

}  // namespace halfgrad::emulator
