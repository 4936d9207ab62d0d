#include <bit>
#include <string>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/simt/block_run.h>
#include <halfgrad/emulator/simt/mbarrier_wait.h>

namespace halfgrad::emulator {
namespace {

using State = LaneGroup::State;

constexpr std::size_t kNamedGroups = 8;  ///< a message names at most this many

Execution execution_of(const BlockRun& run, Block& block, Warp& warp, const LaneGroup& group) {
  return {group.mask, group.frame->registers, group.frame, &warp, &block, &run.launch()};
}

/// "lanes 0-15", "lane 3", "lanes 0, 2-4".
std::string lane_names(LaneMask mask) {
  if (mask == kAllLanes) return "all lanes";
  std::string names;
  for (unsigned lane = 0; lane < kWarpSize;) {
    const auto length = static_cast<unsigned>(std::countr_one(mask >> lane));
    if (length == 0) {
      ++lane;
      continue;
    }
    names += names.empty() ? "" : ", ";
    names += std::to_string(lane);
    if (length > 1) names += "-" + std::to_string(lane + length - 1);
    lane += length;
  }
  return (std::popcount(mask) == 1 ? "lane " : "lanes ") + names;
}

std::string what_it_does(const LaneGroup& group, LaneMask alive) {
  switch (group.state) {
    case State::waits_at_barrier:
      return group.barrier == kClusterBarrier
                 ? "waits at the cluster's barrier at "
                 : "waits at barrier " + std::to_string(group.barrier) + " at ";
    case State::waits_for_lanes:
      return "waits for " + lane_names(group.needed & alive & ~group.mask) + " at ";
    case State::ready:
      return "runs at ";
  }
  return "";
}

/// Calls f(warp, group) for every group of the block.
template <class F>
void each_group(Block& block, F f) {
  for (Warp& warp : block.warps) {
    for (LaneGroup& group : warp.groups) f(warp, group);
  }
}

std::string where_all_wait(const BlockRun& run, Block& block) {
  std::string text;
  std::size_t named = 0, left = 0;
  each_group(block, [&](Warp& warp, LaneGroup& group) {
    if (named++ >= kNamedGroups) {
      ++left;
      return;
    }
    const Execution execution = execution_of(run, block, warp, group);
    text += "; warp " + std::to_string(warp.index) + " (" + lane_names(group.mask) + ") " +
            what_it_does(group, warp.alive) +
            place_of(execution, group.frame->function->code[group.pc]);
    const MbarrierWait& wait = warp.mbarrier_waits[first_lane(group.mask)];
    if (group.state == State::ready && wait.owner != nullptr) {
      text += ", where it waits for " + text_of(wait, block);
    }
  });
  if (left != 0) text += "; and " + std::to_string(left) + " more groups of lanes";
  return text;
}

/// One sentence about threads of which some wait at barriers.
std::string barrier_problem(Block& block, const BlockBarriers& barriers) {
  std::uint32_t ids = 0;
  std::size_t waiting = 0, alive = 0;
  for (const Warp& warp : block.warps) alive += static_cast<unsigned>(std::popcount(warp.alive));
  each_group(block, [&](Warp&, LaneGroup& group) {
    if (group.state != State::waits_at_barrier) return;
    ids |= 1u << group.barrier;
    waiting += static_cast<unsigned>(std::popcount(group.mask));
  });
  if (std::popcount(ids) > 1) return "threads of one block wait at different barriers";
  if (ids == 1u << kClusterBarrier) {
    return "the cluster's barrier waits for all threads of the cluster, of which some never arrive";
  }
  const unsigned id = static_cast<unsigned>(std::countr_zero(ids));
  const BlockBarriers::Phase& phase = barriers.phase(id);
  if (phase.expected == 0) {
    return "barrier " + std::to_string(id) + " waits for all " + std::to_string(alive) +
           " threads, but only " + std::to_string(waiting) + " arrive";
  }
  return "barrier " + std::to_string(id) + " waits for " + std::to_string(phase.expected) +
         " threads, but " + std::to_string(phase.credit) + " arrive and " +
         std::to_string(block.threads - alive) + " of the block's have exited";
}

}  // namespace

void BlockRun::stuck() {
  Warp* warp_of_finding = nullptr;
  LaneGroup* group_of_finding = nullptr;
  // A lane that a .sync names and that waits elsewhere is the cause; a barrier that others wait at
  // is only the consequence.
  for (const State state : {State::waits_at_barrier, State::waits_for_lanes}) {
    bool first = true;
    each_group(block_, [&](Warp& warp, LaneGroup& group) {
      if (group.state != state || !first) return;
      first = false;
      warp_of_finding = &warp;
      group_of_finding = &group;
    });
  }
  const LaneGroup& group = *group_of_finding;
  const bool at_barrier = group.state == State::waits_at_barrier;
  const std::string problem =
      at_barrier ? barrier_problem(block_, barriers_)
                 : "lanes wait for others of their warp that never arrive at this instruction";
  abort_kernel(execution_of(*this, block_, *warp_of_finding, group),
               group.frame->function->code[group.pc], first_lane(group.mask),
               at_barrier ? FindingKind::barrier : FindingKind::warp_sync,
               problem + where_all_wait(*this, block_));
}

void BlockRun::too_long() {
  abort_running("the warps of a block executed " + std::to_string(executed()) +
                " instructions, more than max_instructions: they probably wait for memory that "
                "nobody writes");
}

void BlockRun::polls_in_vain() {
  std::string problem =
      "all blocks that run wait for memory that none of them writes: what they wait for comes from "
      "a block that has not started, has ended, or waits itself";
  if (block_.polls_host_memory && !launch().machine.settings.lazy_streams) {
    problem +=
        ", or from the host: eager streams run a kernel at its launch, before the host goes on. If "
        "the host writes after the launch, expected halfgrad-emulate --streams lazy";
  }
  abort_running(problem);
}

void BlockRun::abort_running(const std::string& problem) {
  for (Warp& warp : block_.warps) {
    for (LaneGroup& group : warp.groups) {
      if (group.state != State::ready) continue;
      abort_kernel(execution_of(*this, block_, warp, group), group.frame->function->code[group.pc],
                   first_lane(group.mask), FindingKind::deadlock,
                   problem + where_all_wait(*this, block_));
    }
  }
  stuck();
}

}  // namespace halfgrad::emulator
