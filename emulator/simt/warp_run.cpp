#include <halfgrad/emulator/simt/warp_run.h>

#include <algorithm>
#include <bit>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/simt/block_run.h>
#include <halfgrad/emulator/simt/step_printer.h>

namespace halfgrad::emulator {
namespace {

/// Units of time of a group while others of its warp could run. A group that spins waits for one of
/// them, so it must let them pass; a group in a long loop should not: the others wait behind the
/// loop.
constexpr std::uint64_t kGroupTurn = 1 << 14;
constexpr std::uint64_t kPoll = 256;  ///< units of a load in a spin loop
constexpr std::uint64_t kAtomicPoll =
    64;  ///< units of an atomic whose result is read: maybe a lock

/// Bytes of a lane's local memory beyond Kernel::local_bytes, if functions call others: recursion
/// may be deeper than any chain of calls in the text.
constexpr std::size_t kStackBytes = 64 * 1024;

/// Bytes of one lane's local memory. The stride is an odd number of cache lines, so that lanes do
/// not all use the same sets of the cache.
std::size_t local_stride(const Kernel& kernel) {
  const bool calls = std::any_of(kernel.functions.begin(), kernel.functions.end(),
                                 [](const Function* function) { return !function->calls.empty(); });
  const std::size_t bytes = kernel.local_bytes + (calls ? kStackBytes : 0);
  return bytes == 0 ? 0 : (((bytes + 63) / 64) | 1) * 64;
}

}  // namespace

void WarpRun::prepare(BlockRun& block, Warp& warp) {
  run_ = &block;
  warp_ = &warp;
  warp.local_stride = local_stride(block.launch().request.kernel);
  const std::size_t bytes = kWarpSize * warp.local_stride;
  if (bytes > local_capacity_) {
    local_.reset(new std::byte[bytes + 64]);  // not value-initialised: most pages are never touched
    local_capacity_ = bytes;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(local_.get());
  warp.local = bytes == 0 ? nullptr : local_.get() + (64 - address % 64) % 64;
  frames_.prepare(block.launch(), warp);
}

void WarpRun::start_block() {
  executed_ = polled_ = used_ = 0;
  frames_.start_block();
  for (AsyncGroups& groups : warp_->async) {
    groups.committed.clear();
    groups.open.clear();
  }
  warp_->products = {};
  warp_->bulk_reads = {};
  warp_->mbarrier_waits.fill({});
  Frame& frame = frames_.kernel_frame();
  warp_->groups.clear();
  warp_->exited.clear();
  LaneGroup& group = warp_->groups.emplace_back();
  group.mask = warp_->alive;
  group.frame = &frame;
}

std::uint64_t WarpRun::run(std::uint64_t units) {
  return run_->grid().step ? run_groups<true>(units) : run_groups<false>(units);
}

template <bool Stepping>
std::uint64_t WarpRun::run_groups(std::uint64_t units) {
  std::uint64_t used = 0;
  while (used < units) {
    const int index = pick();
    if (index < 0) break;
    used += run_group<Stepping>(static_cast<std::size_t>(index), units - used);
  }
  used_ += used;
  return used;
}

/// The interpreter's main loop: fetch, guard, execute. It ends where the group meets another one,
/// when its time is over, and at instructions that change groups.
template <bool Stepping>
std::uint64_t WarpRun::run_group(std::size_t index, std::uint64_t units) {
  LaneGroup& group = warp_->groups[index];
  const Function& function = *group.frame->function;
  const bool others = others_ready(group);
  const std::uint64_t turn =
      others ? std::min(units, kGroupTurn - std::min<std::uint64_t>(kGroupTurn, group.run_length))
             : units;
  const Instruction* const code = function.code.data();
  InstructionCounters* const counters = run_->block().counters->data() + function.first_counter;
  Execution execution = execution_of(group, group.mask);
  const LaneMask all = group.mask;
  const auto lanes = static_cast<std::uint64_t>(std::popcount(all));
  const std::uint32_t meeting = meeting_point(group);
  std::uint32_t pc = group.pc;
  std::uint64_t used = 0, polls = 0, executed = 0;
  bool products = warp_->products.registers.any();  // are under way
  const auto leave = [&] {
    executed_ += executed;
    polled_ += polls;
    return used;
  };

  while (pc < meeting && used < turn) {
    const Instruction& instruction = code[pc];
    InstructionCounters& counter = counters[pc];
    ++used;
    ++executed;
    ++counter.executed;
    LaneMask mask = all;
    // The lanes for which the instruction's predicate holds: "@%p1 add.f32 ..."
    if (instruction.guard != kNoOffset) {
      const LaneMask guard = execution.predicate(instruction.guard);
      mask &= instruction.guard_negated ? ~guard : guard;
      if (mask == 0) {
        ++pc;
        continue;
      }
    }
    counter.active_lanes += mask == all ? lanes : static_cast<std::uint64_t>(std::popcount(mask));
    execution.mask = mask;
    if (products) products = check_registers(execution, instruction);
    // Almost all instructions.
    if (instruction.control == Control::none) {
      instruction.execute(execution, instruction);
      if constexpr (Stepping) print_step(execution, instruction);
      if (instruction.kind == InstructionClass::atomic && instruction.destinations != 0) {
        used += kAtomicPoll;
        polls += kAtomicPoll;
      }
      ++pc;
      continue;
    }
    if constexpr (Stepping) {
      if (instruction.control != Control::pause) print_step(execution, instruction);
    }
    // Control instructions that keep the group as it is: a branch that all lanes take, a .sync
    // whose lanes are all in the group, and a load in a spin loop.
    if (instruction.control == Control::branch && mask == all) {
      group.branch_from = pc;
      group.branch_to = pc = instruction.target;
      continue;
    }
    if (instruction.control == Control::warp_sync && sync_at_once(execution, instruction)) {
      products = warp_->products.registers.any();
      ++pc;
      continue;
    }
    if (instruction.control == Control::pause) {
      if (instruction.execute != nullptr) instruction.execute(execution, instruction);
      if constexpr (Stepping) print_step(execution, instruction);
      used += kPoll;
      polls += kPoll;
      ++pc;
      continue;
    }
    // All others may split, join or end groups.
    group.pc = pc;
    control(index, instruction, mask);  // `group` may be gone
    return leave();
  }
  group.pc = pc;
  if (others) {
    group.run_length += static_cast<std::uint32_t>(used);
    group.passed = group.run_length >= kGroupTurn;
    if (group.passed) group.run_length = 0;
  }
  // A function that ends with a call of one that never returns has no ret.
  if (pc == function.code.size()) ret(index, all);
  return leave();
}

/// Checks what an instruction reads while products of wgmma are under way. Returns whether some
/// are.
bool WarpRun::check_registers(const Execution& execution, const Instruction& instruction) {
  PendingRegisters& registers = warp_->products.registers;
  if (instruction.kind != InstructionClass::matrix) registers.check(execution, instruction);
  return registers.any();
}

Execution WarpRun::execution_of(const LaneGroup& group, LaneMask lanes) const {
  return {lanes, group.frame->registers, group.frame, warp_, &run_->block(), &run_->launch()};
}

}  // namespace halfgrad::emulator
