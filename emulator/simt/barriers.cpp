#include <halfgrad/emulator/simt/barriers.h>

#include <algorithm>
#include <bit>
#include <string>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/simt/control_flow.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {
namespace {

bool waits_at(const LaneGroup& group, unsigned id) {
  return group.state == LaneGroup::State::waits_at_barrier && group.barrier == id;
}

const Instruction& instruction_of(const LaneGroup& group) {
  return group.frame->function->code[group.pc];
}

Execution execution_of(Block& block, Warp& warp, const LaneGroup& group) {
  return {group.mask, group.frame->registers, group.frame, &warp, &block, block.launch};
}

/// Reports lanes of one warp that wait at one aligned barrier by different instructions.
void check_alignment(Block& block, Warp& warp, unsigned id) {
  const LaneGroup* first = nullptr;
  for (const LaneGroup& group : warp.groups) {
    if (!waits_at(group, id)) continue;
    if (first == nullptr) {
      first = &group;
      continue;
    }
    if (!instruction_of(group).options<BarrierOptions>().aligned) continue;
    const Execution execution = execution_of(block, warp, group);
    report(execution, instruction_of(group), first_lane(group.mask), FindingKind::barrier,
           "lanes of one warp execute different barrier instructions: bar.sync and __syncthreads() "
           "expect all lanes of a warp at the same one; the other lanes are at " +
               place_of(execution_of(block, warp, *first), instruction_of(*first)));
    return;
  }
}

void write_reduction(const Execution& execution, const Instruction& instruction,
                     const BlockBarriers::Phase& phase) {
  const BarrierAction action = instruction.options<BarrierOptions>().action;
  if (action == BarrierAction::sync || action == BarrierAction::arrive) return;
  if (action == BarrierAction::popc) {
    std::uint32_t* result = execution.lanes<std::uint32_t>(instruction.operands[0]);
    each_lane(execution.mask, [&](unsigned lane) { result[lane] = phase.popc; });
    return;
  }
  LaneMask& result = execution.predicate(instruction.operands[0]);
  const bool value = action == BarrierAction::all ? phase.all : phase.any;
  result = value ? result | execution.mask : result & ~execution.mask;
}

}  // namespace

void BlockBarriers::start_block(Block& block) {
  block_ = &block;
  open_ = 0;
  completions_ = 0;
  for (Phase& phase : phases_) {
    phase.open = false;
    std::fill(phase.partial.begin(), phase.partial.end(), 0);
    phase.partial.resize(block.warps.size());
  }
}

void BlockBarriers::arrive(Execution& execution, const Instruction& instruction, unsigned id) {
  const BarrierOptions& options = instruction.options<BarrierOptions>();
  const Warp& warp = *execution.warp;
  Phase& phase = phases_[id];
  const unsigned lane = first_lane(execution.mask);
  const std::uint32_t count =
      options.counted ? execution.lanes<std::uint32_t>(instruction.source(1))[lane] : 0;
  if (!phase.open) {
    phase.open = true;
    phase.expected = count;
    phase.credit = phase.popc = 0;
    phase.all = true;
    phase.any = false;
    open_ |= 1u << id;
  }
  if (count % kWarpSize != 0) {
    report(execution, instruction, lane, FindingKind::barrier,
           "barrier " + std::to_string(id) + " expects " + std::to_string(count) +
               " threads, but the count must be a multiple of the warp size");
  }
  const auto threads = static_cast<std::uint32_t>(kWarpSize * block_->warps.size());
  const auto normal = [&](std::uint32_t n) { return n == threads ? 0 : n; };
  if (normal(count) != normal(phase.expected)) {
    report(execution, instruction, lane, FindingKind::barrier,
           "barrier " + std::to_string(id) + " is waited for with different counts of threads: " +
               std::to_string(count) + ", and " + std::to_string(phase.expected) +
               " by the first to arrive (0: all threads of the block)");
  }
  if (options.action >= BarrierAction::popc) {
    const Offset predicate = instruction.source(options.counted ? 2 : 1);
    LaneMask values = execution.predicate(predicate);
    if (options.negated) values = ~values;
    values &= execution.mask;
    phase.popc += static_cast<std::uint32_t>(std::popcount(values));
    phase.all &= values == execution.mask;
    phase.any |= values != 0;
  }
  if (block_->launch->checks != nullptr) {
    const bool follows =
        block_->launch->checks->barrier_arrive(*block_, id, {execution.warp, execution.mask});
    if (!follows && block_->launch->machine.settings.check_sync) {
      report(execution, instruction, lane, FindingKind::barrier,
             "threads arrive at barrier " + std::to_string(id) +
                 ", and nothing orders them after its last completion: they may be counted for "
                 "that one, in place of others. Groups of threads need barriers of their own");
    }
  }
  phase.partial[warp.index] |= execution.mask;
  if (!options.aligned) phase.credit += static_cast<std::uint32_t>(std::popcount(execution.mask));
  credit_whole_warp(phase, warp, options.aligned);
  complete_if_due(id);
}

void BlockBarriers::credit_whole_warp(Phase& phase, const Warp& warp, bool aligned) {
  LaneMask& partial = phase.partial[warp.index];
  if (partial == 0 || (warp.alive & ~partial) != 0) return;
  phase.credit += kWarpSize;
  if (!aligned) phase.credit -= static_cast<std::uint32_t>(std::popcount(partial));
  partial = 0;
}

bool BlockBarriers::is_due(const Phase& phase) const {
  if (phase.expected != 0) return phase.credit >= phase.expected;
  std::uint32_t expected = 0;
  for (const Warp& warp : block_->warps) expected += warp.alive != 0 ? kWarpSize : 0;
  return phase.credit >= expected;
}

void BlockBarriers::complete_if_due(unsigned id) {
  if (is_due(phases_[id])) complete(id);
}

void BlockBarriers::complete(unsigned id) {
  Phase& phase = phases_[id];
  std::array<Arrival, 1024> waiters;
  std::size_t count = 0;
  const bool some_exited = block_->launch->machine.settings.check_sync && phase.expected == 0 &&
                           std::any_of(block_->warps.begin(), block_->warps.end(),
                                       [](const Warp& warp) { return !warp.exited.empty(); });
  for (Warp& warp : block_->warps) {
    if (block_->launch->machine.settings.check_sync) check_alignment(*block_, warp, id);
    for (LaneGroup& group : warp.groups) {
      if (!waits_at(group, id)) continue;
      write_reduction(execution_of(*block_, warp, group), instruction_of(group), phase);
      if (some_exited) check_passed_by(warp, group, id);
      group.state = LaneGroup::State::ready;
      ++group.pc;
      waiters[count++] = {&warp, group.mask};
    }
  }
  if (block_->launch->checks != nullptr) {
    block_->launch->checks->barrier_complete(*block_, id, std::span(waiters.data(), count),
                                             phase.expected != 0);
  }
  phase.open = false;
  open_ &= ~(1u << id);
  std::fill(phase.partial.begin(), phase.partial.end(), 0);
  ++completions_;
}

void BlockBarriers::check_passed_by(Warp& warp, const LaneGroup& group, unsigned id) {
  if (group.frame->depth != 0) return;
  for (const Warp& other : block_->warps) {
    for (const ExitedLanes& exited : other.exited) {
      if (!passed_by(*group.frame->function, group.pc, exited.last_pc)) continue;
      const Execution execution = execution_of(*block_, warp, group);
      const Instruction& last = group.frame->function->code[exited.last_pc];
      report(execution, instruction_of(group), first_lane(group.mask), FindingKind::barrier,
             "threads wait at barrier " + std::to_string(id) +
                 ", which others passed by before they exited; the last place of lane " +
                 std::to_string(first_lane(exited.lanes)) + " of warp " +
                 std::to_string(other.index) + " is " + place_of(execution, last));
      return;
    }
  }
  note_left_early(warp, group, id);
}

/// A barrier waits for threads that did not exit (CUDA C++ Programming Guide, "Independent Thread
/// Scheduling"), so an early return is legal. It is often a mistake in a tail all the same.
void BlockBarriers::note_left_early(Warp& warp, const LaneGroup& group, unsigned id) {
  const Instruction& instruction = instruction_of(group);
  if (std::find(left_early_.begin(), left_early_.end(), &instruction) != left_early_.end()) return;
  left_early_.push_back(&instruction);
  std::size_t exited = block_->threads;
  for (const Warp& other : block_->warps)
    exited -= static_cast<unsigned>(std::popcount(other.alive));
  report(execution_of(*block_, warp, group), instruction, first_lane(group.mask),
         FindingKind::barrier,
         std::to_string(exited) + " threads returned before they reached barrier " +
             std::to_string(id) + ", which waits for the others only",
         0, "", Severity::note);
}

/// A thread passed the barrier by if its last instruction can follow the barrier, and the barrier
/// cannot follow it. A thread that returns early leaves from a branch before the barrier.
bool BlockBarriers::passed_by(const Function& function, std::uint32_t barrier,
                              std::uint32_t last_pc) {
  if (last_pc == kNowhere) return false;
  for (const Passing& known : known_) {
    const bool same = known.function == &function && known.barrier == barrier;
    if (same && known.last_pc == last_pc) return known.passed;
  }
  const bool passed =
      can_follow(function, barrier, last_pc) && !can_follow(function, last_pc, barrier);
  known_.push_back({&function, barrier, last_pc, passed});
  return passed;
}

void BlockBarriers::lanes_exited(Warp& warp) {
  for (std::uint32_t open = open_; open != 0; open &= open - 1) {
    const unsigned id = static_cast<unsigned>(std::countr_zero(open));
    Phase& phase = phases_[id];
    bool aligned = false;
    for (const LaneGroup& group : warp.groups) {
      if (waits_at(group, id)) aligned = instruction_of(group).options<BarrierOptions>().aligned;
    }
    credit_whole_warp(phase, warp, aligned);
    complete_if_due(id);
  }
}

}  // namespace halfgrad::emulator
