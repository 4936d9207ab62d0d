#include <halfgrad/emulator/ptx/unknown_instruction.h>

#include <string>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {
namespace {

void abort_at_unknown(Execution& execution, const Instruction& instruction) {
  const Function& function = *execution.frame->function;
  const auto reason = function.unknown.find(instruction.index);
  const std::string text(function.statements[instruction.index].text);
  abort_kernel(execution, instruction, first_lane(execution.mask), FindingKind::unknown_instruction,
               "the emulator does not know the instruction '" + text + "'" +
                   (reason == function.unknown.end() ? "" : ": " + reason->second));
}

}  // namespace

Instruction unknown_instruction() {
  Instruction instruction;
  instruction.execute = abort_at_unknown;
  return instruction;
}

}  // namespace halfgrad::emulator
