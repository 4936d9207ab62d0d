#pragma once

#include <cstdint>
#include <vector>

namespace halfgrad::emulator {

/// Counters of one instruction of a kernel in one launch. Ratios such as the coalescing efficiency
/// are computed from them.
struct InstructionCounters {
  std::uint64_t executed = 0;        ///< executions by a warp
  std::uint64_t active_lanes = 0;    ///< active lanes, summed over executions
  std::uint64_t sectors = 0;         ///< 32-byte sectors of global memory that accesses touched
  std::uint64_t sectors_needed = 0;  ///< the fewest sectors that could hold the accessed bytes
  std::uint64_t bank_conflicts = 0;  ///< extra cycles of shared memory accesses
  std::uint64_t bytes_loaded = 0, bytes_stored = 0;  ///< bytes of global memory
  std::uint64_t flops = 0;  ///< floating-point operations of matrix instructions

  InstructionCounters& operator+=(const InstructionCounters& other);
};

/// Counters of a launch: one entry for each instruction of the kernel and the functions it calls,
/// at Function::first_counter + Instruction::index.
struct LaunchCounters {
  std::vector<InstructionCounters> instructions;
  std::uint64_t warps = 0, blocks = 0;
  double host_seconds = 0;  ///< time that the emulator took

  InstructionCounters total() const;
};

}  // namespace halfgrad::emulator
