#include <string>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/simt/block_run.h>
#include <halfgrad/emulator/simt/cluster_barrier.h>
#include <halfgrad/emulator/simt/warp_run.h>

namespace halfgrad::emulator {
namespace {

/// "trap" or "brkpt".
std::string opcode_of(const LaneGroup& group, const Instruction& instruction) {
  return std::string(group.frame->function->statements[instruction.index].opcode);
}

}  // namespace

void WarpRun::control(std::size_t index, const Instruction& instruction, LaneMask lanes) {
  switch (instruction.control) {
    case Control::branch:
      return branch(index, instruction, lanes);
    case Control::branch_indexed:
      return branch_indexed(index, instruction, lanes);
    case Control::call:
      return call(index, instruction, lanes);
    case Control::ret:
      return ret(index, lanes);
    case Control::exit:
      return exit(index, lanes);
    case Control::barrier:
      return barrier(index, instruction, lanes);
    case Control::warp_sync:
      return sync(index, instruction, lanes);
    case Control::trap: {
      const LaneGroup& group = warp_->groups[index];
      abort_kernel(execution_of(group, lanes), instruction, first_lane(lanes), FindingKind::trap,
                   "the kernel executes " + opcode_of(group, instruction));
    }
    case Control::none:
    case Control::pause:
      return;  // WarpRun::run_group executes them
  }
}

void WarpRun::split(std::size_t index, LaneMask lanes, std::uint32_t pc) {
  if (lanes == 0) return;
  LaneGroup part = warp_->groups[index];
  part.mask = lanes;
  part.pc = pc;
  part.state = LaneGroup::State::ready;
  warp_->groups[index].mask &= ~lanes;
  warp_->groups.push_back(part);
}

void WarpRun::erase_if_empty(std::size_t index) {
  std::vector<LaneGroup>& groups = warp_->groups;
  if (groups[index].mask == 0) groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(index));
}

void WarpRun::branch(std::size_t index, const Instruction& instruction, LaneMask lanes) {
  const std::uint32_t pc = warp_->groups[index].pc;
  split(index, lanes, instruction.target);
  warp_->groups.back().branch_from = pc;
  warp_->groups.back().branch_to = instruction.target;
  ++warp_->groups[index].pc;  // the lanes whose guard is false; run_group handles a branch of all
}

void WarpRun::branch_indexed(std::size_t index, const Instruction& instruction, LaneMask lanes) {
  const LaneGroup group = warp_->groups[index];
  const Execution execution = execution_of(group, lanes);
  const auto& table = group.frame->function->branch_tables[instruction.target];
  const std::uint32_t* entries = execution.lanes<std::uint32_t>(instruction.operands[0]);
  each_lane(lanes, [&](unsigned lane) {
    if (entries[lane] >= table.size()) {
      abort_kernel(execution, instruction, lane, FindingKind::trap,
                   "brx.idx: expected an index below " + std::to_string(table.size()) + ", got " +
                       std::to_string(entries[lane]));
    }
  });
  for (LaneMask left = lanes; left != 0;) {
    const std::uint32_t entry = entries[first_lane(left)];
    LaneMask same = 0;
    each_lane(left, [&](unsigned lane) {
      if (entries[lane] == entry) same |= LaneMask{1} << lane;
    });
    split(index, same, table[entry]);
    warp_->groups.back().branch_from = group.pc;
    warp_->groups.back().branch_to = table[entry];
    left &= ~same;
  }
  ++warp_->groups[index].pc;
  erase_if_empty(index);
}

void WarpRun::exit(std::size_t index, LaneMask lanes) {
  warp_->alive &= ~lanes;
  LaneGroup& group = warp_->groups[index];
  if (warp_->alive == 0) check_products_of_exit(execution_of(group, lanes));
  check_bulk_reads_of_exit(execution_of(group, lanes));
  const bool jumped = group.branch_to == group.pc;
  const bool in_kernel = group.frame->depth == 0 && group.pc != 0;
  const std::uint32_t last_pc = jumped ? group.branch_from : group.pc - 1;
  warp_->exited.push_back({lanes, in_kernel ? last_pc : kNowhere});
  group.mask &= ~lanes;
  ++group.pc;
  erase_if_empty(index);
  complete_syncs();
  run_->barriers().lanes_exited(*warp_);
  run_->cluster_barrier().complete_if_due();
}

/// The whole group arrives at the cluster's barrier, or waits for it.
void WarpRun::cluster_barrier(std::size_t index, const Instruction& instruction) {
  const BarrierOptions& options = instruction.options<BarrierOptions>();
  LaneGroup& group = warp_->groups[index];
  Execution execution = execution_of(group, group.mask);
  ClusterBarrier& barrier = run_->cluster_barrier();
  if (options.action == BarrierAction::cluster_arrive) {
    ++group.pc;
    barrier.arrive(execution, instruction, options.relaxed);
  } else if (barrier.passes(execution, instruction)) {
    ++group.pc;
  } else {
    group.state = LaneGroup::State::waits_at_barrier;
    group.barrier = kClusterBarrier;
  }
}

void WarpRun::barrier(std::size_t index, const Instruction& instruction, LaneMask lanes) {
  const BarrierOptions& options = instruction.options<BarrierOptions>();
  split(index, warp_->groups[index].mask & ~lanes, warp_->groups[index].pc + 1);
  if (options.action >= BarrierAction::cluster_arrive) return cluster_barrier(index, instruction);
  const std::uint32_t* ids =
      execution_of(warp_->groups[index], lanes).lanes<std::uint32_t>(instruction.source(0));
  for (LaneMask left = lanes; left != 0;) {
    const std::uint32_t id = ids[first_lane(left)];
    LaneMask same = 0;
    each_lane(left, [&](unsigned lane) {
      if (ids[lane] == id) same |= LaneMask{1} << lane;
    });
    left &= ~same;
    if (left != 0) split(index, left, warp_->groups[index].pc);  // they arrive at another barrier
    LaneGroup& group = warp_->groups[index];
    Execution execution = execution_of(group, same);
    if (id >= kBarriers) {
      abort_kernel(execution, instruction, first_lane(same), FindingKind::barrier,
                   "bar: expected a barrier from 0 to 15, got " + std::to_string(id));
    }
    if (options.action == BarrierAction::arrive) {
      ++group.pc;
    } else {
      group.state = LaneGroup::State::waits_at_barrier;
      group.barrier = static_cast<std::uint8_t>(id);
      join_groups();
    }
    run_->barriers().arrive(execution, instruction, id);
    return;  // a group with another barrier number runs again
  }
}

}  // namespace halfgrad::emulator
