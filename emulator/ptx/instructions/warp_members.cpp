// PTX ISA, "Parallel Synchronization and Communication Instructions": activemask, elect.sync, and
// the member masks of all `*.sync` instructions.
#include <halfgrad/emulator/ptx/instructions/warp.h>

#include <string>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/simt/launch.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {
namespace {

/// "0x0000ffff"
std::string mask_text(LaneMask mask) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "0x00000000";
  for (unsigned digit = 0; digit < 8; ++digit) text[9 - digit] = kDigits[mask >> 4 * digit & 15];
  return text;
}

void execute_active_mask(Execution& execution, const Instruction& instruction) {
  broadcast(execution.lanes<std::uint32_t>(instruction.operands[0]), execution.mask,
            execution.mask);
}

/// Elects the lowest lane: PTX demands only that the choice is the same each time.
void execute_elect(Execution& execution, const Instruction& instruction) {
  const unsigned leader = first_lane(execution.mask);
  broadcast(execution.lanes<std::uint32_t>(instruction.operands[0]), leader, execution.mask);
  write_predicate(execution.predicate(instruction.operands[1]), LaneMask{1} << leader,
                  execution.mask);
}

}  // namespace

void member_mask(Encoder& encoder, unsigned i) {
  encoder.source(i, Type::b32);
  Instruction& instruction = encoder.instruction;
  instruction.control = Control::warp_sync;
  instruction.kind = InstructionClass::warp;
  instruction.mask_operand =
      static_cast<std::uint8_t>(instruction.destinations + instruction.sources - 1);
}

void all_lanes_are_members(Encoder& encoder) {
  Operand all;
  all.kind = Operand::Kind::immediate;
  all.bits = kAllLanes;
  encoder.source(all, Type::b32);
  Instruction& instruction = encoder.instruction;
  instruction.control = Control::warp_sync;
  instruction.mask_operand =
      static_cast<std::uint8_t>(instruction.destinations + instruction.sources - 1);
}

void check_whole_warp(const Execution& execution, const Instruction& instruction) {
  if (execution.mask == kAllLanes || !execution.launch->machine.settings.check_sync) return;
  report(execution, instruction, first_lane(execution.mask), FindingKind::warp_sync,
         "the instruction needs all 32 lanes of the warp, but only the lanes of " +
             mask_text(execution.mask) + " execute it");
}

void decode_active_mask(Encoder& encoder) {
  if (encoder.operands() != 1) encoder.unknown("expected one operand");
  encoder.destination(0, Type::b32);
  encoder.instruction.kind = InstructionClass::warp;
  encoder.instruction.execute = execute_active_mask;
}

void decode_elect(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  if (!statement.has("sync") || encoder.operands() != 2 ||
      statement.operands[0].kind != Operand::Kind::pair) {
    encoder.unknown("expected elect.sync d|p, membermask");
  }
  encoder.destination(statement.operands[0].parts[0], Type::b32);
  encoder.destination(statement.operands[0].parts[1], Type::pred);
  member_mask(encoder, 1);
  encoder.instruction.execute = execute_elect;
}

}  // namespace halfgrad::emulator
