#include <halfgrad/emulator/simt/step_printer.h>

#include <cstdio>
#include <string>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {

bool steps_through(const Launch& launch) {
  const Settings& settings = launch.machine.settings;
  return settings.step &&
         launch.request.kernel.main->name.find(settings.step_kernel) != std::string::npos;
}

void print_step(const Execution& execution, const Instruction& instruction) {
  std::string lanes;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    lanes += (execution.mask >> lane & 1) != 0 ? '#' : '.';
  }
  const std::string text(execution.frame->function->statements[instruction.index].text);
  std::printf("%s  warp %u  %s  %s\n", place_of(execution, instruction).c_str(),
              execution.warp->index, lanes.c_str(), text.c_str());
}

}  // namespace halfgrad::emulator
