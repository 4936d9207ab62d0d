#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <halfgrad/emulator/simt/block_run.h>
#include <halfgrad/emulator/simt/cluster_barrier.h>

namespace halfgrad::emulator {

/// Runs the blocks of one cluster after another, in turns on one host thread: they access each
/// other's shared memory. Without clusters, a block is a cluster of its own.
class ClusterRun {
 public:
  using Outcome = BlockRun::Outcome;

  void prepare(GridState& grid, std::vector<InstructionCounters>& counters);
  /// `number`: linear index of the cluster in the grid.
  void start(std::uint64_t number);
  /// As BlockRun::run does.
  Outcome run(std::uint64_t units);

  /// Number of the block that ran last.
  std::uint64_t current_block() { return blocks_[current_]->block().number; }
  /// Whether all blocks that run only polled memory in their last turns, and changed nothing.
  bool only_polled() const;
  /// As BlockRun::polls_in_vain does.
  [[noreturn]] void polls_in_vain() { blocks_[current_]->polls_in_vain(); }
  std::uint64_t executed() const;
  VainTurnsOfCluster& vain_turns() { return vain_turns_; }
  void flush_output();

 private:
  Outcome run_one(BlockRun& block, std::uint64_t units);
  Outcome run_turns(std::uint64_t units);
  void end_checks();

  GridState* grid_ = nullptr;
  std::vector<std::unique_ptr<BlockRun>> blocks_;
  std::vector<Block*> by_rank_;
  ClusterBarrier barrier_;
  std::size_t current_ = 0;
  VainTurnsOfCluster vain_turns_;
};

}  // namespace halfgrad::emulator
