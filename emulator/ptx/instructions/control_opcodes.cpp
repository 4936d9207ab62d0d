// PTX ISA, "Control Flow Instructions" and "Miscellaneous Instructions", and "Parallel
// Synchronization and Communication Instructions: griddepcontrol". The scheduler (simt/) executes
// what changes the flow; the decoder of functions resolves labels, tables and calls.
#include <halfgrad/emulator/ptx/families.h>
#include <halfgrad/emulator/ptx/instructions/barrier_opcodes.h>
#include <halfgrad/emulator/simt/execution.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {
namespace {

void no_effect(Execution&, const Instruction&) {}

template <Control C>
void decode_control(Encoder& encoder) {
  encoder.instruction.kind = InstructionClass::control;
  encoder.instruction.control = C;
}

/// nanosleep lets other warps run. How long it sleeps has no meaning without a clock.
void decode_pause(Encoder& encoder) {
  encoder.instruction.kind = InstructionClass::control;
  encoder.instruction.control = Control::pause;
}

/// Instructions about the GPU's resources: pmevent, setmaxnreg.
void decode_no_effect(Encoder& encoder) {
  encoder.instruction.kind = InstructionClass::control;
  encoder.instruction.execute = no_effect;
}

void wait_for_grids(Execution& execution, const Instruction&) {
  LaunchChecks* checks = execution.launch->checks.get();
  if (checks != nullptr) checks->grids_waited(execution);
}

/// Blocks of one launch start after the launches before it have ended, so griddepcontrol.wait has
/// nothing to wait for, and launch_dependents has no effect. The checks remember the wait.
void decode_grid_dependency(Encoder& encoder) {
  encoder.instruction.kind = InstructionClass::control;
  encoder.instruction.execute = encoder.statement.has("wait") ? wait_for_grids : no_effect;
}

constexpr OpcodeEntry kOpcodes[] = {
    {"bra", decode_control<Control::branch>},
    {"brx", decode_control<Control::branch_indexed>},
    {"call", decode_control<Control::call>},
    {"ret", decode_control<Control::ret>},
    {"exit", decode_control<Control::exit>},
    {"trap", decode_control<Control::trap>},
    {"brkpt", decode_control<Control::trap>},
    {"nanosleep", decode_pause},
    {"pmevent", decode_no_effect},
    {"setmaxnreg", decode_no_effect},
    {"griddepcontrol", decode_grid_dependency},
    {"bar", decode_barrier},
    {"barrier", decode_barrier},
};

}  // namespace

std::span<const OpcodeEntry> control_opcodes() { return kOpcodes; }

}  // namespace halfgrad::emulator
