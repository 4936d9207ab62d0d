#include <algorithm>
#include <cstring>
#include <string>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/simt/block_run.h>
#include <halfgrad/emulator/simt/builtins.h>
#include <halfgrad/emulator/simt/warp_run.h>

namespace halfgrad::emulator {
namespace {

/// Bytes of the stack that a call takes beside the caller's variables.
constexpr std::size_t kCallBytes = 16;

std::uint32_t local_end(const Frame& frame) {
  const std::size_t bytes = (frame.function->local_bytes + 15) / 16 * 16 + kCallBytes;
  return frame.local_begin + static_cast<std::uint32_t>(bytes);
}

void copy_values(LaneMask lanes, const std::vector<Parameter>& from, const Frame& from_frame,
                 const std::vector<Parameter>& to, const Frame& to_frame) {
  const std::size_t count = std::min(from.size(), to.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t bytes = std::min(from[i].bytes, to[i].bytes);
    each_lane(lanes, [&](unsigned lane) {
      std::memcpy(
          to_frame.parameters + lane * to_frame.function->parameter_bytes + to[i].offset,
          from_frame.parameters + lane * from_frame.function->parameter_bytes + from[i].offset,
          bytes);
    });
  }
}

bool same_place(const Frame::Return& a, const Frame::Return& b) {
  return a.caller == b.caller && a.call == b.call && a.pc == b.pc;
}

}  // namespace

void WarpRun::call(std::size_t index, const Instruction& instruction, LaneMask lanes) {
  const std::uint32_t pc = warp_->groups[index].pc;
  split(index, warp_->groups[index].mask & ~lanes, pc + 1);
  LaneGroup& group = warp_->groups[index];
  const Call& call = group.frame->function->calls[instruction.target];
  Execution execution = execution_of(group, lanes);
  if (call.callee != nullptr) return enter(index, instruction, call, *call.callee);
  if (call.address == kNoOffset) {
    call_builtin(*run_, execution, instruction, call);
    ++group.pc;
    return;
  }
  const std::uint64_t* addresses = execution.lanes<std::uint64_t>(call.address);
  const std::uint64_t address = addresses[first_lane(lanes)];
  const Function* callee = Module::function_at(run_->launch().request.kernel, address);
  if (callee == nullptr) {
    abort_kernel(execution, instruction, first_lane(lanes), FindingKind::trap,
                 "an indirect call of an address that is no function's", address);
  }
  LaneMask others = 0;
  each_lane(lanes, [&](unsigned lane) {
    if (addresses[lane] != address) others |= LaneMask{1} << lane;
  });
  split(index, others, pc);
  enter(index, instruction, call, *callee);
}

/// Moves the whole group into `callee`.
void WarpRun::enter(std::size_t index, const Instruction& instruction, const Call& call,
                    const Function& callee) {
  LaneGroup& group = warp_->groups[index];
  Frame& caller = *group.frame;
  const std::uint32_t local_begin = local_end(caller);
  if (local_begin + callee.local_bytes > warp_->local_stride) {
    abort_kernel(execution_of(group, group.mask), instruction, first_lane(group.mask),
                 FindingKind::out_of_bounds,
                 "stack overflow: " + std::to_string(caller.depth + 1) +
                     " nested calls need more than " + std::to_string(warp_->local_stride) +
                     " bytes of local memory");
  }
  Frame& frame = frames_.enter(callee, caller.depth + 1, local_begin);
  copy_values(group.mask, call.arguments, caller, callee.parameters, frame);
  each_lane(group.mask, [&](unsigned lane) {
    frame.returns[lane] = {&caller, &call, group.pc + 1};
  });
  group.frame = &frame;
  group.pc = 0;
}

/// Lanes return to their callers, each set of lanes that came from one place as a group.
void WarpRun::ret(std::size_t index, LaneMask lanes) {
  if (warp_->groups[index].frame->depth == 0) return exit(index, lanes);
  Frame& frame = *warp_->groups[index].frame;
  split(index, warp_->groups[index].mask & ~lanes, warp_->groups[index].pc + 1);
  while (lanes != 0) {
    const Frame::Return place = frame.returns[first_lane(lanes)];
    LaneMask same = 0;
    each_lane(lanes, [&](unsigned lane) {
      if (same_place(frame.returns[lane], place)) same |= LaneMask{1} << lane;
    });
    lanes &= ~same;
    copy_values(same, frame.function->results, frame, place.call->results, *place.caller);
    if (lanes != 0) split(index, same, place.pc);
    LaneGroup& group = lanes != 0 ? warp_->groups.back() : warp_->groups[index];
    group.frame = place.caller;
    group.pc = place.pc;
  }
}

}  // namespace halfgrad::emulator
