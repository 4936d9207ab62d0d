#pragma once

#include <span>
#include <string>

#include <halfgrad/emulator/checks/finding.h>
#include <halfgrad/emulator/simt/execution.h>

namespace halfgrad::emulator {

class Module;
struct Kernel;

/// Adds a finding about `instruction` of one lane to the launch's log: kernel, line, block and
/// thread are filled in. `address` is a generic address, 0: none.
void report(const Execution& execution, const Instruction& instruction, unsigned lane,
            FindingKind kind, std::string message, std::uint64_t address = 0,
            std::string other = "", Severity severity = Severity::error);

/// Reports an error in the same way, then throws KernelAborted.
[[noreturn]] void abort_kernel(const Execution& execution, const Instruction& instruction,
                               unsigned lane, FindingKind kind, std::string message,
                               std::uint64_t address = 0);

/// "layer_norm.cu:41", or "PTX line 120" without -lineinfo, of an instruction.
std::string place_of(const Execution& execution, const Instruction& instruction);

/// Place of the instruction of the kernel whose counters have index `counter`.
std::string place_of(const Module& module, const Kernel& kernel, std::size_t counter);
/// "thread (3,0,0) of block (1,0,0)", from the sizes of grid and block, and linear indices.
std::string thread_text(const Dim3& grid_size, const Dim3& block_size, std::uint64_t block,
                        unsigned thread);
/// Whether a place lies in the headers of CUDA's toolkit, in one of these folders.
bool is_in_headers(const std::string& place, std::span<const char* const> folders);

}  // namespace halfgrad::emulator
