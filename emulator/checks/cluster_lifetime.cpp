// Shared memory of another block of a cluster exists from the block's start to its end: barriers of
// the cluster must order accesses after the one and before the other (CUDA C++ Programming Guide,
// "Distributed Shared Memory").
#include <string>

#include <halfgrad/emulator/checks/launch_state.h>
#include <halfgrad/emulator/checks/report.h>

namespace halfgrad::emulator {
namespace {

/// Whether a thread of the block is ordered after an access.
bool knows(BlockState& owner, const BlockState& user, const ClusterUse& use) {
  const unsigned thread = use.execution.warp->index * kWarpSize + first_lane(use.execution.mask);
  for (const WarpKnowledge& warp : owner.knowledge.warps) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      if (warp.knows(lane, user.knowledge.number, thread, use.clock)) return true;
    }
  }
  return false;
}

}  // namespace

void LaunchChecks::note_use(Execution& execution, const Instruction& instruction, Block& owner) {
  if (!execution.launch->machine.settings.check_sync) return;
  const Block& user = *execution.block;
  const bool arrived = (execution.warp->cluster_arrived & execution.mask) != 0;
  ClusterUse& use = state_of(owner).uses[execution.warp];
  const bool started = user.cluster_phases != 0 || use.instruction != nullptr;
  use = {execution, &instruction, state_of(*execution.block).knowledge.clock,
         user.cluster_phases + (arrived ? 2 : 1)};
  if (started) return;
  report(execution, instruction, first_lane(execution.mask), FindingKind::barrier,
         "an access to shared memory of block " + std::to_string(owner.rank) +
             " of the cluster, which may not have started: a barrier of the cluster must come "
             "before");
}

void LaunchChecks::check_lifetime(Block& block) {
  BlockState& owner = state_of(block);
  for (const auto& [warp, use] : owner.uses) {
    if (block.cluster_waited >= use.phase) continue;
    if (state_->check_race && knows(owner, state_of(*warp->block), use)) continue;
    report(use.execution, *use.instruction, first_lane(use.execution.mask), FindingKind::barrier,
           "an access to shared memory of block " + std::to_string(block.rank) +
               " of the cluster, which may have exited: a barrier of the cluster must come after");
  }
}

}  // namespace halfgrad::emulator
