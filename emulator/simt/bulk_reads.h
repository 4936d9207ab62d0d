#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <halfgrad/emulator/simt/execution.h>

namespace halfgrad::emulator {

struct Function;

/// A piece of global memory.
struct GlobalRange {
  std::uint64_t begin = 0;
  std::uint32_t bytes = 0;
};

/// A bulk copy to global memory that may still read shared memory, or whose elements in global
/// memory may not be written yet.
struct BulkRead {
  const Function* function = nullptr;  ///< the function that issued it
  const Instruction* instruction = nullptr;
  unsigned lane = 0;
  std::uint64_t group = 0;            ///< number of its bulk group in the lane; 0: not committed
  std::vector<std::uint32_t> chunks;  ///< byte offsets of 16-byte chunks of shared memory
  bool reads = true;                  ///< no wait has ended the reads
  std::vector<GlobalRange> writes;
};

/// Bulk copies to global memory of a warp, in the order of issue. Each lane has groups of its own.
struct BulkReads {
  std::vector<BulkRead> pending;
  std::array<std::uint64_t, kWarpSize> committed{};  ///< groups of each lane until now
};

/// Notes copies of these lanes, which exit, that no wait has ended.
void check_bulk_reads_of_exit(const Execution& execution);

}  // namespace halfgrad::emulator
