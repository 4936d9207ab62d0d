#pragma once

#include <halfgrad/emulator/simt/block_run.h>

namespace halfgrad::emulator {

/// Runs a function that the CUDA driver provides: vprintf, __assertfail, malloc, free,
/// cudaGraphSetConditional. Ends the kernel with the function's name if it is another one.
void call_builtin(BlockRun& run, const Execution& execution, const Instruction& instruction,
                  const Call& call);

}  // namespace halfgrad::emulator
