// PTX ISA, "Parallel Synchronization and Communication Instructions: vote.sync" and vote.
#include <halfgrad/emulator/ptx/instructions/warp.h>

namespace halfgrad::emulator {
namespace {

/// Active lanes whose predicate is true. `!p` inverts the predicate.
LaneMask true_lanes(const Execution& execution, const Instruction& instruction) {
  const LaneMask predicate = execution.predicate(instruction.source(0));
  return (instruction.options<bool>() ? ~predicate : predicate) & execution.mask;
}

struct VoteAll {
  bool operator()(LaneMask yes, LaneMask members) const { return yes == members; }
};
struct VoteAny {
  bool operator()(LaneMask yes, LaneMask) const { return yes != 0; }
};
/// All predicates are equal.
struct VoteUniform {
  bool operator()(LaneMask yes, LaneMask members) const { return yes == 0 || yes == members; }
};

template <class Vote>
void execute_vote(Execution& execution, const Instruction& instruction) {
  const bool result = Vote{}(true_lanes(execution, instruction), execution.mask);
  write_predicate(execution.predicate(instruction.operands[0]), result ? kAllLanes : 0,
                  execution.mask);
}

void execute_ballot(Execution& execution, const Instruction& instruction) {
  broadcast(execution.lanes<std::uint32_t>(instruction.operands[0]),
            true_lanes(execution, instruction), execution.mask);
}

Execute vote_of_mode(const Encoder& encoder) {
  const Statement& statement = encoder.statement;
  if (statement.has("all")) return execute_vote<VoteAll>;
  if (statement.has("any")) return execute_vote<VoteAny>;
  if (statement.has("uni")) return execute_vote<VoteUniform>;
  if (statement.has("ballot")) return execute_ballot;
  encoder.unknown("expected all, any, uni or ballot");
}

}  // namespace

void decode_vote(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  const bool sync = statement.has("sync"), ballot = statement.has("ballot");
  if (statement.type() != (ballot ? Type::b32 : Type::pred)) {
    encoder.unknown("expected .pred, or .b32 of a ballot");
  }
  if (encoder.operands() != (sync ? 3u : 2u)) encoder.unknown("expected d, a, membermask");
  encoder.destination(0, ballot ? Type::b32 : Type::pred);
  encoder.source(1, Type::pred);
  encoder.instruction.set_options(statement.operands[1].negated);
  // Without .sync (before sm_70) the lanes that execute together vote.
  if (sync) member_mask(encoder, 2);
  encoder.instruction.kind = InstructionClass::warp;
  encoder.instruction.execute = vote_of_mode(encoder);
}

}  // namespace halfgrad::emulator
