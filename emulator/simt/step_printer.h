#pragma once

#include <halfgrad/emulator/simt/execution.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {

/// Whether settings.step asks for the instructions of this kernel.
bool steps_through(const Launch& launch);

/// Prints one instruction that was executed: source line, block, warp, active lanes, PTX text, and
/// what its destination registers hold.
void print_step(const Execution& execution, const Instruction& instruction);

}  // namespace halfgrad::emulator
