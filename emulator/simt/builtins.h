#pragma once

#include <cstdint>
#include <string>

#include <halfgrad/emulator/simt/block_run.h>

namespace halfgrad::emulator {

/// Runs a function that the CUDA driver or its device runtime provides: vprintf, __assertfail,
/// malloc, free, cudaGraphSetConditional, __cudaCDP2*. Ends the kernel with the function's name if
/// it is another one.
void call_builtin(BlockRun& run, const Execution& execution, const Instruction& instruction,
                  const Call& call);

struct LaneCall;
/// Takes a piece of the device's heap; 0 if none is left.
std::uint64_t device_malloc(LaneCall& call, std::uint64_t bytes);
/// Gives a piece back; ends the kernel if `allocator` did not return the address.
void device_free(LaneCall& call, std::uint64_t address, const std::string& function,
                 const std::string& allocator);

}  // namespace halfgrad::emulator
