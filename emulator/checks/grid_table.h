#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {

/// The grids of a launch: the one that the host launched, and those that kernels launched. Counts
/// their blocks one after the other, and names their threads and lines in findings.
class GridTable {
 public:
  /// Returns the number of the grid's first block.
  std::uint32_t add(const LaunchRequest& request);
  /// "thread (3,0,0) of block (1,0,0)", and the kernel if it is not `own`.
  std::string thread(std::uint32_t block, unsigned thread, const Kernel& own) const;
  /// Place of the instruction whose counters have index `counter`, in the kernel of `block`.
  std::string place(std::uint32_t block, std::uint32_t counter) const;

 private:
  struct Grid {
    std::uint32_t first_block;
    Dim3 grid, block;
    const Module* module;
    const Kernel* kernel;
  };
  const Grid& grid_of(std::uint32_t block) const;

  std::vector<Grid> grids_;
  std::uint64_t blocks_ = 0;
};

}  // namespace halfgrad::emulator
