#include <cstdio>
#include <string>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/ptx/instructions/warp.h>
#include <halfgrad/emulator/simt/block_run.h>
#include <halfgrad/emulator/simt/warp_run.h>

namespace halfgrad::emulator {
namespace {

bool waits_for_lanes(const LaneGroup& group) {
  return group.state == LaneGroup::State::waits_for_lanes;
}

const Instruction& instruction_at(const LaneGroup& group) {
  return group.frame->function->code[group.pc];
}

/// bar.warp.sync computes nothing, so lanes may meet at different ones.
bool is_warp_barrier(const Instruction& instruction) {
  return instruction.kind == InstructionClass::barrier;
}

/// Lanes also meet at different shuffles of one mode, as two halves of a warp do that loop a
/// different number of times. A lane that reads across them is found as one that reads an absent
/// lane.
bool are_like_shuffles(const LaneGroup& a, const LaneGroup& b) {
  return is_shuffle(instruction_at(a)) && instruction_at(a).execute == instruction_at(b).execute;
}

bool meets(const LaneGroup& a, const LaneGroup& b) {
  if (!waits_for_lanes(b) || a.needed != b.needed) return false;
  if (a.frame == b.frame && a.pc == b.pc) return true;
  return (is_warp_barrier(instruction_at(a)) && is_warp_barrier(instruction_at(b))) ||
         are_like_shuffles(a, b);
}

const LaneMask* members_of(const Execution& execution, const Instruction& instruction) {
  return execution.lanes<LaneMask>(instruction.operands[instruction.mask_operand]);
}

/// Lanes of `lanes` that give the same member mask as the first of them.
LaneMask lanes_with_one_mask(const LaneMask* members, LaneMask lanes) {
  const LaneMask needed = members[first_lane(lanes)];
  LaneMask same = 0;
  each_lane(lanes, [&](unsigned lane) {
    if (members[lane] == needed) same |= LaneMask{1} << lane;
  });
  return same;
}

std::string mask_text(LaneMask mask) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", mask);
  return text;
}

void check_caller(const Execution& execution, const Instruction& instruction, LaneMask needed) {
  const LaneMask missing = execution.mask & ~needed;
  if (missing == 0 || !execution.launch->machine.settings.check_sync) return;
  report(execution, instruction, first_lane(missing), FindingKind::warp_sync,
         "the member mask " + mask_text(needed) + " does not contain lane " +
             std::to_string(first_lane(missing)) + ", which executes the instruction");
}

/// Only bar.warp.sync orders memory: "These intrinsics do not imply a memory barrier" (CUDA
/// programming guide, "Warp Shuffle Functions"; the same of votes and reductions). match.sync
/// counts as one all the same: libcu++'s pipelines rely on it.
void met(Warp& warp, const Block& block, LaneMask lanes, const Instruction& instruction) {
  LaunchChecks* checks = block.launch->checks.get();
  if (checks == nullptr) return;
  if (is_warp_barrier(instruction) || is_match(instruction)) {
    checks->warp_synchronised(warp, lanes);
  } else {
    checks->warp_met(warp, lanes);
  }
}

}  // namespace

/// Executes if all lanes that the mask names are in the group: the case that matters for speed.
bool WarpRun::sync_at_once(Execution& execution, const Instruction& instruction) {
  const LaneMask* members = members_of(execution, instruction);
  const LaneMask needed = members[first_lane(execution.mask)];
  if ((needed & warp_->alive & ~execution.mask) != 0) return false;
  if (lanes_with_one_mask(members, execution.mask) != execution.mask) return false;
  if ((execution.mask & ~needed) != 0) check_caller(execution, instruction, needed);
  if (instruction.execute != nullptr) instruction.execute(execution, instruction);
  met(*warp_, *execution.block, execution.mask, instruction);
  return true;
}

/// Lanes wait, a group for each mask, until those that they name have come.
void WarpRun::sync(std::size_t index, const Instruction& instruction, LaneMask lanes) {
  const std::uint32_t pc = warp_->groups[index].pc;
  split(index, warp_->groups[index].mask & ~lanes, pc + 1);
  const LaneMask* members = members_of(execution_of(warp_->groups[index], lanes), instruction);
  for (LaneMask left = lanes; left != 0;) {
    const LaneMask same = lanes_with_one_mask(members, left);
    left &= ~same;
    if (left != 0) split(index, same, pc);
    LaneGroup& group = left != 0 ? warp_->groups.back() : warp_->groups[index];
    group.state = LaneGroup::State::waits_for_lanes;
    group.needed = members[first_lane(same)];
  }
  complete_syncs();
}

/// Lets lanes go on whose partners have all come.
void WarpRun::complete_syncs() {
  join_groups();
  std::vector<LaneGroup>& groups = warp_->groups;
  for (std::size_t first = 0; first < groups.size(); ++first) {
    if (!waits_for_lanes(groups[first])) continue;
    const LaneGroup model = groups[first];
    const Instruction& first_instruction = instruction_at(model);
    LaneMask present = 0;
    for (const LaneGroup& group : groups) present |= meets(model, group) ? group.mask : 0;
    if ((model.needed & warp_->alive & ~present) != 0) continue;
    for (LaneGroup& group : groups) {
      if (!meets(model, group)) continue;
      const Instruction& instruction = instruction_at(group);
      Execution execution = execution_of(group, group.mask);
      check_caller(execution, instruction, model.needed);
      if (instruction.execute != nullptr) instruction.execute(execution, instruction);
    }
    for (LaneGroup& group : groups) {
      if (!waits_for_lanes(group) || (group.mask & present) == 0) continue;
      group.state = LaneGroup::State::ready;
      ++group.pc;
    }
    met(*warp_, run_->block(), present, first_instruction);
  }
}

}  // namespace halfgrad::emulator
