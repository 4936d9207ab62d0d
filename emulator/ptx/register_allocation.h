#pragma once

#include <halfgrad/emulator/ptx/function_builder.h>

namespace halfgrad::emulator {

/// Gives all slots of the function their places in its register file, and corrects the
/// instructions.
///
/// Registers that are never alive at the same time share a place (linear scan over the intervals of
/// instructions at which a register is alive): a small register file stays in the host's cache.
/// Lanes that diverge do no harm: an instruction writes the active lanes alone, and a lane's values
/// are alive along its own path.
void place_registers(FunctionBuilder& builder);

}  // namespace halfgrad::emulator
