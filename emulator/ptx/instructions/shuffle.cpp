// PTX ISA, "Data Movement and Conversion Instructions: shfl.sync".
#include <halfgrad/emulator/ptx/instructions/warp.h>

#include <string>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/simt/launch.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {
namespace {

enum class ShuffleMode { up, down, butterfly, index };

/// Lane whose value `lane` reads, and whether it lies in the lane's segment.
struct ShuffleSource {
  unsigned lane;
  bool inside;
};

/// Operand b is a distance or an index. Operand c holds the clamp in bits 0 to 4, and in bits 8 to
/// 12 the segment mask: the bits of a lane's number that name its segment.
template <ShuffleMode Mode>
ShuffleSource shuffle_source(unsigned lane, std::uint32_t b, std::uint32_t c) {
  const unsigned value = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  const unsigned lowest = lane & segment;
  const unsigned bound = lowest | (clamp & ~segment);
  switch (Mode) {
    case ShuffleMode::up:  // signed: lane 0 minus 1 lies below every bound
      return {lane - value, static_cast<int>(lane - value) >= static_cast<int>(bound)};
    case ShuffleMode::down:
      return {lane + value, lane + value <= bound};
    case ShuffleMode::butterfly:
      return {lane ^ value, (lane ^ value) <= bound};
    case ShuffleMode::index:
      break;
  }
  const unsigned from = lowest | (value & ~segment);
  return {from, from <= bound};
}

template <ShuffleMode Mode>
void execute_shuffle(Execution& execution, const Instruction& instruction);

/// Whether a shuffle down leaves a right value in the first lane, as a reduction of few lanes does:
/// __shfl_down_sync(0xff, sum, 4) reads lanes 8 to 11, but only for lanes whose sums nobody uses.
bool is_reduction(const Execution& execution, const Instruction& instruction,
                  const unsigned (&from)[kWarpSize]) {
  return instruction.execute == execute_shuffle<ShuffleMode::down> &&
         (execution.mask >> from[first_lane(execution.mask)] & 1) != 0;
}

/// The value of an absent lane is undefined; the emulator gives 0, as programs that NVIDIA tests on
/// its GPUs expect. Only a value that the shuffle takes counts: a lane outside its segment keeps
/// its own.
void report_absent(const Execution& execution, const Instruction& instruction,
                   const unsigned (&from)[kWarpSize]) {
  if (!execution.launch->machine.settings.check_sync) return;
  const Severity severity =
      is_reduction(execution, instruction, from) ? Severity::note : Severity::error;
  each_lane(execution.mask, [&](unsigned lane) {
    if ((execution.mask >> from[lane] & 1) != 0) return;
    const bool exited = (execution.warp->alive >> from[lane] & 1) == 0;
    report(execution, instruction, lane, FindingKind::warp_sync,
           "lane " + std::to_string(lane) + " reads the value of lane " +
               std::to_string(from[lane]) +
               (exited ? ", which does not exist or has exited" : ", which does not take part"),
           0, "", severity);
  });
}

template <ShuffleMode Mode>
void execute_shuffle(Execution& execution, const Instruction& instruction) {
  const auto* a = execution.lanes<std::uint32_t>(instruction.source(0));
  const auto* b = execution.lanes<std::uint32_t>(instruction.source(1));
  const auto* c = execution.lanes<std::uint32_t>(instruction.source(2));
  const LaneMask mask = execution.mask;
  unsigned from[kWarpSize];
  LaneMask inside = 0, present = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const ShuffleSource source = shuffle_source<Mode>(lane, b[lane], c[lane]);
    from[lane] = source.inside ? source.lane & 31 : lane;
    inside |= LaneMask{source.inside} << lane;
    present |= (mask >> from[lane] & 1) << lane;
  }
  if ((mask & ~present) != 0) report_absent(execution, instruction, from);

  std::uint32_t values[kWarpSize];
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    values[lane] = (present >> lane & 1) != 0 ? a[from[lane]] : 0;
  }
  write_lanes(execution.lanes<std::uint32_t>(instruction.operands[0]), values, mask);
  if (instruction.destinations == 2) {
    write_predicate(execution.predicate(instruction.operands[1]), inside, mask);
  }
}

Execute shuffle_of_mode(const Encoder& encoder) {
  const Statement& statement = encoder.statement;
  if (statement.has("up")) return execute_shuffle<ShuffleMode::up>;
  if (statement.has("down")) return execute_shuffle<ShuffleMode::down>;
  if (statement.has("bfly")) return execute_shuffle<ShuffleMode::butterfly>;
  if (statement.has("idx")) return execute_shuffle<ShuffleMode::index>;
  encoder.unknown("expected up, down, bfly or idx");
}

}  // namespace

bool is_shuffle(const Instruction& instruction) {
  const Execute execute = instruction.execute;
  return execute == execute_shuffle<ShuffleMode::up> ||
         execute == execute_shuffle<ShuffleMode::down> ||
         execute == execute_shuffle<ShuffleMode::butterfly> ||
         execute == execute_shuffle<ShuffleMode::index>;
}

void decode_shuffle(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  const bool sync = statement.has("sync");
  if (statement.type() != Type::b32) encoder.unknown("expected .b32");
  if (encoder.operands() != (sync ? 5u : 4u)) encoder.unknown("expected d|p, a, b, c, membermask");
  const Operand& result = statement.operands[0];
  if (result.kind == Operand::Kind::pair) {
    encoder.destination(result.parts[0], Type::b32);
    encoder.destination(result.parts[1], Type::pred);
  } else {
    encoder.destination(result, Type::b32);
  }
  for (unsigned i = 1; i < 4; ++i) encoder.source(i, Type::b32);
  // Without .sync (before sm_70) the lanes that execute together take part.
  if (sync) member_mask(encoder, 4);
  encoder.instruction.kind = InstructionClass::warp;
  encoder.instruction.execute = shuffle_of_mode(encoder);
}

}  // namespace halfgrad::emulator
