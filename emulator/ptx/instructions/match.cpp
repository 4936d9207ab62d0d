// PTX ISA, "Parallel Synchronization and Communication Instructions: match.sync".
#include <halfgrad/emulator/ptx/instructions/warp.h>

namespace halfgrad::emulator {
namespace {

/// Active lanes whose value equals `value`.
template <class T>
LaneMask equal_lanes(const T* values, T value, LaneMask mask) {
  LaneMask equal = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    equal |= LaneMask{values[lane] == value} << lane;
  }
  return equal & mask;
}

/// Each lane gets the mask of lanes with its value.
template <class T>
void execute_match_any(Execution& execution, const Instruction& instruction) {
  const T* values = execution.lanes<T>(instruction.source(0));
  std::uint32_t result[kWarpSize] = {};
  for (LaneMask left = execution.mask; left != 0;) {
    const LaneMask equal = equal_lanes(values, values[first_lane(left)], execution.mask);
    each_lane(equal, [&](unsigned lane) { result[lane] = equal; });
    left &= ~equal;
  }
  write_lanes(execution.lanes<std::uint32_t>(instruction.operands[0]), result, execution.mask);
}

/// The mask of all lanes and true if all values are equal, else 0 and false.
template <class T>
void execute_match_all(Execution& execution, const Instruction& instruction) {
  const T* values = execution.lanes<T>(instruction.source(0));
  const LaneMask mask = execution.mask;
  const bool same = equal_lanes(values, values[first_lane(mask)], mask) == mask;
  broadcast(execution.lanes<std::uint32_t>(instruction.operands[0]), same ? mask : 0u, mask);
  if (instruction.destinations == 2) {
    write_predicate(execution.predicate(instruction.operands[1]), same ? kAllLanes : 0, mask);
  }
}

}  // namespace

bool is_match(const Instruction& instruction) {
  const Execute execute = instruction.execute;
  return execute == execute_match_any<std::uint32_t> ||
         execute == execute_match_any<std::uint64_t> ||
         execute == execute_match_all<std::uint32_t> || execute == execute_match_all<std::uint64_t>;
}

void decode_match(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  const Type type = statement.type();
  if (!statement.has("sync") || encoder.operands() != 3) {
    encoder.unknown("expected match.sync d|p, a, membermask");
  }
  if (type != Type::b32 && type != Type::b64) encoder.unknown("expected .b32 or .b64");
  const bool all = statement.has("all");
  if (!all && !statement.has("any")) encoder.unknown("expected any or all");
  const Operand& result = statement.operands[0];
  if (result.kind == Operand::Kind::pair) {
    if (!all) encoder.unknown("match.any has no predicate result");
    encoder.destination(result.parts[0], Type::b32);
    encoder.destination(result.parts[1], Type::pred);
  } else {
    encoder.destination(result, Type::b32);
  }
  encoder.source(1, type);
  member_mask(encoder, 2);
  if (type == Type::b64) {
    encoder.instruction.execute =
        all ? execute_match_all<std::uint64_t> : execute_match_any<std::uint64_t>;
  } else {
    encoder.instruction.execute =
        all ? execute_match_all<std::uint32_t> : execute_match_any<std::uint32_t>;
  }
}

}  // namespace halfgrad::emulator
