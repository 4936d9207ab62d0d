#pragma once

#include <span>
#include <string>

#include <halfgrad/emulator/checks/finding.h>
#include <halfgrad/emulator/simt/execution.h>

namespace halfgrad::emulator {

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

/// Place of the instruction whose counters of the launch have index `counter`.
std::string place_of(const Launch& launch, std::size_t counter);
/// Whether a place lies in the headers of CUDA's toolkit, in one of these folders.
bool is_in_headers(const std::string& place, std::span<const char* const> folders);
/// "thread (3,0,0) of block (1,0,0)", from linear indices.
std::string thread_text(const Launch& launch, std::uint64_t block, unsigned thread);

}  // namespace halfgrad::emulator
