// PTX ISA, "Parallel Synchronization and Communication Instructions: bar, barrier; bar.warp.sync;
// barrier.cluster".
#include <halfgrad/emulator/ptx/instructions/barrier_opcodes.h>

#include <string>
#include <string_view>

#include <halfgrad/emulator/ptx/instructions/warp.h>
#include <halfgrad/emulator/simt/barriers.h>

namespace halfgrad::emulator {
namespace {

/// The lanes only meet, see WarpRun::sync.
void meet(Execution&, const Instruction&) {}

/// bar.warp.sync membermask;
void decode_warp_barrier(Encoder& encoder) {
  if (!encoder.statement.has("sync") || encoder.operands() != 1) {
    encoder.unknown("expected bar.warp.sync membermask");
  }
  member_mask(encoder, 0);
  encoder.instruction.kind = InstructionClass::barrier;
  encoder.instruction.execute = meet;
}

BarrierAction action_of(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  if (statement.has("arrive")) return BarrierAction::arrive;
  if (statement.has("sync")) return BarrierAction::sync;
  if (statement.has("popc")) return BarrierAction::popc;
  if (statement.has("and")) return BarrierAction::all;
  if (statement.has("or")) return BarrierAction::any;
  encoder.unknown("expected .sync, .arrive or .red");
}

/// barrier.cluster.arrive{.release, .relaxed}{.aligned};  barrier.cluster.wait{.acquire}{.aligned};
void decode_cluster_barrier(Encoder& encoder) {
  BarrierOptions options;
  bool arrives = false, waits = false;
  for (const std::string_view word : encoder.statement.modifiers) {
    arrives |= word == "arrive";
    waits |= word == "wait";
    options.relaxed |= word == "relaxed";
    options.aligned |= word == "aligned";
    const bool known = word == "cluster" || word == "arrive" || word == "wait" ||
                       word == "relaxed" || word == "aligned" || word == "release" ||
                       word == "acquire";
    if (!known) encoder.unknown("unknown modifier ." + std::string(word));
  }
  if (arrives == waits || encoder.operands() != 0) encoder.unknown("expected .arrive or .wait");
  options.action = arrives ? BarrierAction::cluster_arrive : BarrierAction::cluster_wait;
  encoder.instruction.kind = InstructionClass::barrier;
  encoder.instruction.control = Control::barrier;
  encoder.instruction.set_options(options);
}

}  // namespace

/// bar.sync a{, b};  bar.arrive a, b;  bar.red.popc.u32 d, a{, b}, {!}p;  bar.red.and.pred p, ...
void decode_barrier(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  if (statement.has("warp")) return decode_warp_barrier(encoder);
  if (statement.has("cluster")) return decode_cluster_barrier(encoder);
  BarrierOptions options;
  options.action = action_of(encoder);
  options.aligned = statement.opcode == "bar" || statement.has("aligned");
  const bool reduces = options.action >= BarrierAction::popc;
  unsigned next = 0;
  if (reduces) {
    encoder.destination(next++, options.action == BarrierAction::popc ? Type::u32 : Type::pred);
  }
  encoder.source(next++, Type::u32);
  options.counted = encoder.operands() == next + (reduces ? 2u : 1u);
  if (options.counted) encoder.source(next++, Type::u32);
  if (options.action == BarrierAction::arrive && !options.counted) {
    encoder.unknown("arrive needs a count of threads");
  }
  if (reduces) {
    Operand predicate = statement.operands.at(next++);
    options.negated = predicate.negated;
    predicate.negated = false;
    encoder.source(predicate, Type::pred);
  }
  if (next != encoder.operands()) encoder.unknown("expected another number of operands");
  encoder.instruction.kind = InstructionClass::barrier;
  encoder.instruction.control = Control::barrier;
  encoder.instruction.set_options(options);
}

}  // namespace halfgrad::emulator
