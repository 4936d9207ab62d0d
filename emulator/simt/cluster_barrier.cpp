#include <halfgrad/emulator/simt/cluster_barrier.h>

#include <algorithm>
#include <utility>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/simt/barriers.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {
namespace {

/// Calls f(block, warp) for every warp of the cluster.
template <class F>
void each_warp(const std::vector<Block*>& blocks, F f) {
  for (Block* const block : blocks) {
    for (Warp& warp : block->warps) f(*block, warp);
  }
}

}  // namespace

void ClusterBarrier::start() {
  gathered_ = published_ = nullptr;
  completions_ = 0;
  open_ = false;
}

void ClusterBarrier::arrive(Execution& execution, const Instruction& instruction, bool relaxed) {
  Warp& warp = *execution.warp;
  if (const LaneMask twice = execution.mask & warp.cluster_owing; twice != 0) {
    abort_kernel(execution, instruction, first_lane(twice), FindingKind::barrier,
                 "a thread arrives at the cluster's barrier again and has not waited for it");
  }
  LaunchChecks* const checks = execution.launch->checks.get();
  if (checks != nullptr) {
    gathered_ = LaunchChecks::join(
        gathered_, relaxed ? checks->release_fenced(execution) : checks->release(execution));
  }
  warp.cluster_arrived |= execution.mask;
  warp.cluster_owing |= execution.mask;
  open_ = true;
  complete_if_due();
}

bool ClusterBarrier::passes(Execution& execution, const Instruction& instruction) {
  Warp& warp = *execution.warp;
  if (const LaneMask absent = execution.mask & ~warp.cluster_owing; absent != 0) {
    abort_kernel(execution, instruction, first_lane(absent), FindingKind::barrier,
                 "a thread waits at the cluster's barrier and has not arrived there");
  }
  if ((warp.cluster_arrived & execution.mask) != 0) return false;
  warp.cluster_owing &= ~execution.mask;
  execution.block->cluster_waited = completions_;
  LaunchChecks* const checks = execution.launch->checks.get();
  if (checks != nullptr) checks->acquire(execution, published_);
  return true;
}

void ClusterBarrier::complete_if_due() {
  if (!open_) return;
  bool due = true;
  each_warp(blocks_, [&](Block&, Warp& warp) { due &= (warp.alive & ~warp.cluster_arrived) == 0; });
  if (!due) return;
  open_ = false;
  ++completions_;
  published_ = LaunchChecks::join(published_, std::exchange(gathered_, nullptr));
  for (Block* const block : blocks_) block->cluster_phases = completions_;
  each_warp(blocks_, [](Block&, Warp& warp) { warp.cluster_arrived = 0; });
  release_waiting_groups();
}

void ClusterBarrier::release_waiting_groups() {
  each_warp(blocks_, [&](Block& block, Warp& warp) {
    for (LaneGroup& group : warp.groups) {
      if (group.state != LaneGroup::State::waits_at_barrier || group.barrier != kClusterBarrier) {
        continue;
      }
      Execution execution{group.mask,  group.frame->registers, group.frame, &warp, &block,
                          block.launch};
      passes(execution, group.frame->function->code[group.pc]);
      group.state = LaneGroup::State::ready;
      ++group.pc;
    }
  });
}

}  // namespace halfgrad::emulator
