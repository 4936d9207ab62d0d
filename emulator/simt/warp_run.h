#pragma once

#include <cstdint>
#include <memory>

#include <halfgrad/emulator/simt/barriers.h>
#include <halfgrad/emulator/simt/frames.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {

class BlockRun;

/// Runs one warp (PTX ISA, "Independent Thread Scheduling"). Lanes at one place of one frame form a
/// group and execute together. The group in the deepest call runs first, then the one with the
/// lowest pc: nvcc lays code out such that groups meet again at post-dominators this way.
class WarpRun {
 public:
  void prepare(BlockRun& block, Warp& warp);
  void start_block();

  /// Runs until `units` of time have passed or no lane can run, and returns the time used; 0 if
  /// none could. An instruction takes one unit, a poll in a spin loop more.
  std::uint64_t run(std::uint64_t units);

  std::uint64_t executed() const { return executed_; }  ///< instructions, in this block
  std::uint64_t polled() const { return polled_; }      ///< units of time that polls took
  void start_turn() { polled_before_ = polled_, used_before_ = used_; }
  /// Whether polls took most of the time since start_turn(), or the warp did not run.
  bool only_polled() const { return 10 * (polled_ - polled_before_) >= 9 * (used_ - used_before_); }

 private:
  template <bool Stepping>
  std::uint64_t run_groups(std::uint64_t units);
  template <bool Stepping>
  std::uint64_t run_group(std::size_t index, std::uint64_t units);

  // group_choice.cpp
  int pick();
  void join_groups();
  std::uint32_t meeting_point(const LaneGroup& group) const;
  bool others_ready(const LaneGroup& group) const;

  // warp_control.cpp: the group at `index` stands at `instruction`, which `lanes` of it execute.
  void control(std::size_t index, const Instruction& instruction, LaneMask lanes);
  void branch(std::size_t index, const Instruction& instruction, LaneMask lanes);
  void branch_indexed(std::size_t index, const Instruction& instruction, LaneMask lanes);
  void exit(std::size_t index, LaneMask lanes);
  void barrier(std::size_t index, const Instruction& instruction, LaneMask lanes);
  void cluster_barrier(std::size_t index, const Instruction& instruction);
  /// Gives `lanes` of the group a group of their own at `pc`.
  void split(std::size_t index, LaneMask lanes, std::uint32_t pc);
  void erase_if_empty(std::size_t index);
  Execution execution_of(const LaneGroup& group, LaneMask lanes) const;
  bool check_registers(const Execution& execution, const Instruction& instruction);

  // warp_sync.cpp
  bool sync_at_once(Execution& execution, const Instruction& instruction);
  void sync(std::size_t index, const Instruction& instruction, LaneMask lanes);
  void complete_syncs();

  // calls.cpp
  void call(std::size_t index, const Instruction& instruction, LaneMask lanes);
  void enter(std::size_t index, const Instruction& instruction, const Call& call,
             const Function& callee);
  void ret(std::size_t index, LaneMask lanes);

  BlockRun* run_ = nullptr;
  Warp* warp_ = nullptr;
  WarpFrames frames_;
  std::unique_ptr<std::byte[]> local_;
  std::size_t local_capacity_ = 0;
  std::uint64_t executed_ = 0, polled_ = 0, used_ = 0;
  std::uint64_t polled_before_ = 0, used_before_ = 0;
};

}  // namespace halfgrad::emulator
