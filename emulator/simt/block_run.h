#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/emulator/simt/barriers.h>
#include <halfgrad/emulator/simt/grid_state.h>
#include <halfgrad/emulator/simt/warp_run.h>

namespace halfgrad::emulator {

class ClusterBarrier;

/// Runs one block after another on one host thread. Registers, local and shared memory stay
/// allocated.
class BlockRun {
 public:
  void prepare(GridState& grid, ClusterBarrier& cluster,
               std::vector<InstructionCounters>& counters);
  void start(const Dim3& index);

  /// `blocked`: all threads wait for other blocks of the cluster.
  enum class Outcome : std::uint8_t { finished, spins, out_of_time, stopped, blocked };
  /// Runs for about `units` of time, less if the block only polls memory. Throws KernelAborted.
  Outcome run(std::uint64_t units);

  Block& block() { return block_; }
  Launch& launch() const { return grid_->launch; }
  GridState& grid() const { return *grid_; }
  BlockBarriers& barriers() { return barriers_; }
  ClusterBarrier& cluster_barrier() { return *cluster_; }
  /// Appends what printf wrote.
  void print(const std::string& text) { printed_ += text; }
  void flush_output();
  /// Whether the last turn only polled memory, and changed nothing.
  bool only_polled() const { return only_polled_; }
  /// All blocks poll memory that nothing changes: adds a finding and throws KernelAborted.
  [[noreturn]] void polls_in_vain();
  /// Instructions that the block's warps executed.
  std::uint64_t executed() const;
  /// Nothing can run: adds findings that say where the warps wait, and throws KernelAborted
  /// (stuck.cpp).
  [[noreturn]] void stuck();

 private:
  bool finished() const;
  [[noreturn]] void too_long();
  [[noreturn]] void abort_running(const std::string& problem);

  GridState* grid_ = nullptr;
  ClusterBarrier* cluster_ = nullptr;
  Block block_;
  std::vector<WarpRun> warps_;
  BlockBarriers barriers_;
  std::string printed_;
  bool only_polled_ = false;
};

}  // namespace halfgrad::emulator
