#pragma once

#include <cstdint>
#include <vector>

#include <halfgrad/emulator/simt/execution.h>
#include <halfgrad/emulator/simt/pending_registers.h>

namespace halfgrad::emulator {

struct Function;

/// A wgmma.mma_async that may still read shared memory.
struct PendingProduct {
  const Function* function = nullptr;  ///< the function that issued it
  const Instruction* instruction = nullptr;
  std::uint64_t a = 0, b = 0;  ///< matrix descriptors
  std::uint64_t number = 0;    ///< in its warp, from 1
};

/// Products of a warp as a part of its warpgroup: committed groups, oldest first, then the open
/// group.
struct WarpgroupProducts {
  bool fenced = false;  ///< wgmma.fence was executed
  std::uint64_t issued = 0;
  PendingProduct last;  ///< issued last
  std::vector<std::vector<PendingProduct>> committed;
  std::vector<PendingProduct> open;
  PendingRegisters registers;
};

/// Reports products that the warp never waited for, and once all warps of its warpgroup have
/// exited, that they issued different numbers of them. `execution` is of the lanes that exit last.
void check_products_of_exit(const Execution& execution);

}  // namespace halfgrad::emulator
