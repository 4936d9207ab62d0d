#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <halfgrad/emulator/checks/launch_checks.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {

/// The barrier of a cluster (PTX ISA, "barrier.cluster"). A phase completes when all threads of the
/// cluster that have not exited arrived.
class ClusterBarrier {
 public:
  void prepare(std::vector<Block*> blocks) { blocks_ = std::move(blocks); }
  void start();

  /// Lanes arrive. Unless `relaxed`, what they did is visible to all who wait.
  void arrive(Execution& execution, const Instruction& instruction, bool relaxed);
  /// Whether the lanes, which arrived, may go on. Orders them after the arrivals if so.
  bool passes(Execution& execution, const Instruction& instruction);
  /// Lanes exited, or their group now waits: completes the phase if nobody else is missing.
  void complete_if_due();

  /// Count of completed phases.
  std::uint64_t completions() const { return completions_; }

 private:
  void release_waiting_groups();

  std::vector<Block*> blocks_;
  KnownAccesses gathered_;   ///< accesses before the arrivals of the open phase
  KnownAccesses published_;  ///< accesses before those of the last complete one
  std::uint64_t completions_ = 0;
  bool open_ = false;  ///< some lane arrived
};

}  // namespace halfgrad::emulator
