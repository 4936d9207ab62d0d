// mbarrier.* and cp.async.mbarrier.arrive (PTX ISA, "Parallel Synchronization and Communication
// Instructions: mbarrier"). Arriving is an atomic release of the word, waiting an atomic acquire of
// the arrivals of completed phases.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/ptx/instructions/mbarrier_access.h>
#include <halfgrad/emulator/ptx/instructions/memory_decoders.h>
#include <halfgrad/emulator/ptx/instructions/memory_form.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {
namespace {

constexpr unsigned kWordBytes = 8;

Access access_to(const Execution& execution, const Instruction& instruction, AccessKind kind,
                 Order order, MbarrierAct act) {
  Access access = access_of(instruction.options<MemoryOptions>(), kind, kWordBytes);
  access.order = order;
  access.mbarrier = act;
  // Blocks of a cluster complete each other's phases, whatever scope those who wait name.
  if (execution.block->cluster.size() > 1) access.scope = std::max(access.scope, Scope::cluster);
  return access;
}

/// Source 0 is the address' base; the other operands depend on the instruction.
HostPointers locate(Execution& execution, const Instruction& instruction, AccessKind kind,
                    Order order, MbarrierAct act) {
  const unsigned base_bytes = instruction.options<MemoryOptions>().base_bytes;
  const LaneAddresses addresses = addresses_of(execution, instruction, 0, base_bytes);
  return resolve(execution, instruction, access_to(execution, instruction, kind, order, act),
                 addresses);
}

void note_completed(const Execution& execution, const MbarrierAccess& barrier) {
  LaunchChecks* const checks = execution.launch->checks.get();
  if (checks != nullptr) checks->phase_completed(barrier.owner(), barrier.offset());
}

/// Calls f(lane, barrier), lowest lane first, as one atomic operation of each lane.
template <class F>
void each_barrier(Execution& execution, const Instruction& instruction, Order order,
                  MbarrierAct act, F f) {
  const HostPointers places = locate(execution, instruction, AccessKind::atomic, order, act);
  each_lane(execution.mask, [&](unsigned lane) {
    MbarrierAccess barrier(execution, instruction, lane, places.lane[lane]);
    const bool phase = barrier.word.phase;
    f(lane, barrier);
    if (barrier.word.phase != phase) note_completed(execution, barrier);
  });
}

void initialise(Execution& execution, const Instruction& instruction) {
  const HostPointers places =
      locate(execution, instruction, AccessKind::store, Order::weak, MbarrierAct::arrive);
  const auto* count = execution.lanes<std::uint32_t>(instruction.source(1));
  each_lane(execution.mask, [&](unsigned lane) {
    if (count[lane] == 0 || count[lane] > MbarrierWord::kLargestCount) {
      abort_kernel(
          execution, instruction, lane, FindingKind::barrier,
          "expected 1 to 1048575 arrivals at an mbarrier, got " + std::to_string(count[lane]));
    }
    MbarrierAccess barrier(execution, instruction, lane, places.lane[lane]);
    barrier.word = {.pending = count[lane], .expected = count[lane]};
    LaunchChecks* const checks = execution.launch->checks.get();
    if (checks != nullptr) {
      checks->mbarrier_initialised(execution, lane, barrier.owner(), barrier.offset(), instruction);
    }
  });
}

void invalidate(Execution& execution, const Instruction& instruction) {
  const HostPointers places =
      locate(execution, instruction, AccessKind::store, Order::weak, MbarrierAct::arrive);
  each_lane(execution.mask, [&](unsigned lane) {
    MbarrierAccess barrier(execution, instruction, lane, places.lane[lane]);
    barrier.word = {};
  });
}

struct ArriveOptions : MemoryOptions {
  bool drops = false, expects = false, returns_state = false;
};

/// Source 1 is the number of arrivals, or of the bytes that the phase waits for from now on.
void arrive(Execution& execution, const Instruction& instruction) {
  const auto& options = instruction.options<ArriveOptions>();
  const auto* number = execution.lanes<std::uint32_t>(instruction.source(1));
  const auto arrive_by = [&](unsigned lane, MbarrierAccess& barrier) {
    barrier.let_copies_land();
    const std::uint64_t state = barrier.word.bits();
    const std::uint32_t arrivals = options.expects ? 1 : number[lane];
    if (options.expects) barrier.word.transactions += static_cast<std::int32_t>(number[lane]);
    if (options.drops) barrier.word.expected -= arrivals;
    barrier.arrive(arrivals);
    if (options.returns_state) {
      execution.lanes<std::uint64_t>(instruction.operands[0])[lane] = state;
    }
  };
  each_barrier(execution, instruction, options.order, MbarrierAct::arrive, arrive_by);
}

template <int Sign>
void change_transactions(Execution& execution, const Instruction& instruction) {
  const auto* bytes = execution.lanes<std::uint32_t>(instruction.source(1));
  const auto change = [&](unsigned lane, MbarrierAccess& barrier) {
    barrier.let_copies_land();
    barrier.word.transactions += Sign * static_cast<std::int32_t>(bytes[lane]);
    if (Sign < 0) barrier.word.complete_if_ready();
  };
  each_barrier(execution, instruction, Order::relaxed, MbarrierAct::arrive, change);
}

/// Lets the copies land that a phase still waits for. The lane that sees them first publishes them
/// to the lanes that wait after it.
void land_for_waiters(Execution& execution, const Instruction& instruction) {
  if (!has_copies_to_land(*execution.block)) return;
  LaneMask landed = 0;
  const auto land = [&](unsigned lane, MbarrierAccess& barrier) {
    if (barrier.let_copies_land()) landed |= LaneMask{1} << lane;
  };
  each_barrier(execution, instruction, Order::relaxed, MbarrierAct::wait, land);
  if (landed == 0) return;
  ++execution.block->changes;
  Execution publisher = execution;
  publisher.mask = landed;
  const auto publish = [&](unsigned, const MbarrierAccess& barrier) {
    note_completed(execution, barrier);
  };
  each_barrier(publisher, instruction, Order::release, MbarrierAct::arrive, publish);
}

/// Source 1 is the parity of a phase, or a state that an arrival returned, whose phase is meant.
template <bool ByParity>
void wait(Execution& execution, const Instruction& instruction) {
  land_for_waiters(execution, instruction);
  LaneMask complete = 0;
  const Order order = instruction.options<MemoryOptions>().order;
  Access access = access_to(execution, instruction, AccessKind::atomic, order, MbarrierAct::wait);
  // Without a scope a wait means the block, and CUTLASS relies on such waits in clusters.
  if (const auto& options = instruction.options<MemoryOptions>(); options.scope_given) {
    access.scope = options.scope;
  }
  LaunchChecks* const checks = execution.launch->checks.get();
  const auto test = [&](unsigned lane, const MbarrierAccess& barrier) {
    bool phase;
    if constexpr (ByParity) {
      phase = (execution.lanes<std::uint32_t>(instruction.source(1))[lane] & 1) != 0;
    } else {
      const auto state = execution.lanes<std::uint64_t>(instruction.source(1))[lane];
      phase = MbarrierWord::from_bits(state).phase;
    }
    const bool passes = barrier.word.phase != phase;
    complete |= LaneMask{passes} << lane;
    execution.warp->mbarrier_waits[lane] =
        passes ? MbarrierWait{} : MbarrierWait{&barrier.owner(), barrier.offset(), phase};
    if (passes && checks != nullptr) {
      checks->phase_waited(execution, lane, access, barrier.owner(), barrier.offset());
    }
  };
  each_barrier(execution, instruction, order, MbarrierAct::wait, test);
  LaneMask& result = execution.predicate(instruction.operands[0]);
  result = (result & ~execution.mask) | complete;
}

void pending_count(Execution& execution, const Instruction& instruction) {
  auto* count = execution.lanes<std::uint32_t>(instruction.operands[0]);
  const auto* state = execution.lanes<std::uint64_t>(instruction.source(0));
  each_lane(execution.mask,
            [&](unsigned lane) { count[lane] = MbarrierWord::from_bits(state[lane]).pending; });
}

/// The mbarrier counts one arrival when all earlier cp.async of the lane have landed. `immediate`
/// is the address' offset; without .noinc the phase waits for one arrival more.
template <bool Increments>
void arrive_after_copies(Execution& execution, const Instruction& instruction) {
  const auto leave_arrival = [&](unsigned lane, MbarrierAccess& barrier) {
    barrier.let_copies_land();
    if (Increments) ++barrier.word.pending;
    AsyncGroups& groups = execution.warp->async[lane];
    BarrierCopy copy;
    copy.barrier = barrier.offset();
    copy.arrivals = 1;
    copy.warp = execution.warp->index;
    copy.lane = lane;
    for (auto& group : groups.committed) {
      copy.parts.insert(copy.parts.end(), group.begin(), group.end());
      group.clear();
    }
    copy.parts.insert(copy.parts.end(), groups.open.begin(), groups.open.end());
    groups.open.clear();
    execution.block->barrier_copies.push_back(std::move(copy));
  };
  each_barrier(execution, instruction, Order::release, MbarrierAct::arrive, leave_arrival);
}

// ---- Decoding

constexpr std::array<std::string_view, 14> kBarrierWords{
    "async",       "mbarrier",  "arrive",      "noinc",     "init",     "inval",  "noComplete",
    "arrive_drop", "expect_tx", "complete_tx", "test_wait", "try_wait", "parity", "pending_count"};

MemoryOptions options_of(const Encoder& encoder, Order order) {
  const MemoryForm form = memory_form(encoder, kBarrierWords);
  MemoryOptions options;
  options.space = form.space;
  options.order = form.order == Order::weak ? order : form.order;
  options.scope = form.scope_given ? form.scope : Scope::cta;
  options.scope_given = form.scope_given;
  return options;
}

void address_and_number(Encoder& encoder, unsigned address, MemoryOptions& options) {
  options.base_bytes = static_cast<std::uint8_t>(encoder.address(address));
  if (address + 1 < encoder.operands()) encoder.source(address + 1, Type::u32);
}

void decode_arrive(Encoder& encoder, bool expects) {
  ArriveOptions options{options_of(encoder, Order::release)};
  options.drops = encoder.statement.has("arrive_drop");
  options.expects = expects;
  // Arrivals at a barrier of another block of the cluster return no state.
  options.returns_state = encoder.statement.operands.at(0).kind != Operand::Kind::address;
  if (options.returns_state) encoder.destination(0, Type::b64);
  const unsigned address = options.returns_state ? 1 : 0;
  address_and_number(encoder, address, options);
  if (encoder.operands() == address + 1) {
    if (expects) encoder.unknown("expected a number of bytes");
    Operand one;
    one.kind = Operand::Kind::immediate;
    one.bits = 1;
    encoder.source(one, Type::u32);
  }
  encoder.instruction.set_options(options);
  encoder.instruction.execute = arrive;
}

void decode_wait(Encoder& encoder) {
  const bool by_parity = encoder.statement.has("parity");
  MemoryOptions options = options_of(encoder, Order::acquire);
  encoder.destination(0, Type::pred);
  options.base_bytes = static_cast<std::uint8_t>(encoder.address(1));
  encoder.source(2, by_parity ? Type::u32 : Type::b64);
  encoder.instruction.set_options(options);
  encoder.instruction.execute = by_parity ? wait<true> : wait<false>;
  encoder.instruction.control = Control::pause;
}

void decode_with_number(Encoder& encoder, Execute execute, unsigned operands) {
  if (encoder.operands() != operands) encoder.unknown("unexpected operands of an mbarrier");
  MemoryOptions options = options_of(encoder, Order::relaxed);
  address_and_number(encoder, 0, options);
  encoder.instruction.set_options(options);
  encoder.instruction.execute = execute;
}

}  // namespace

void decode_mbarrier(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  encoder.instruction.kind = InstructionClass::barrier;
  const bool arrives = statement.has("arrive") || statement.has("arrive_drop");
  if (arrives) return decode_arrive(encoder, statement.has("expect_tx"));
  if (statement.has("test_wait") || statement.has("try_wait")) return decode_wait(encoder);
  if (statement.has("init")) return decode_with_number(encoder, initialise, 2);
  if (statement.has("inval")) return decode_with_number(encoder, invalidate, 1);
  if (statement.has("expect_tx")) return decode_with_number(encoder, change_transactions<1>, 2);
  if (statement.has("complete_tx")) return decode_with_number(encoder, change_transactions<-1>, 2);
  if (!statement.has("pending_count")) encoder.unknown("unknown form of mbarrier");
  encoder.operands_of(Type::u32, {Type::b64});
  encoder.instruction.execute = pending_count;
}

void decode_mbarrier_of_copies(Encoder& encoder) {
  const bool increments = !encoder.statement.has("noinc");
  decode_with_number(encoder, increments ? arrive_after_copies<true> : arrive_after_copies<false>,
                     1);
  encoder.instruction.kind = InstructionClass::async_copy;
}

}  // namespace halfgrad::emulator
