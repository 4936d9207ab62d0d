#include <halfgrad/emulator/memory/observation.h>

#include <halfgrad/emulator/checks/launch_checks.h>
#include <halfgrad/emulator/simt/launch.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {

void observe_value(Execution& execution, const Instruction& instruction, const Access& access,
                   const LaneAddresses& addresses, const HostPointers& pointers) {
  LaunchChecks* const checks = execution.launch->checks.get();
  const bool strong = access.order != Order::weak || access.kind == AccessKind::atomic;
  if (checks == nullptr || !strong) return;
  Access global = access;
  global.space = Space::global;
  Execution part = execution;
  if (access.space == Space::generic) {
    each_lane(execution.mask, [&](unsigned lane) {
      if ((addresses[lane] & kWindowMask) != 0) part.mask &= ~(LaneMask{1} << lane);
    });
  } else if (access.space != Space::global) {
    return;
  }
  if (part.mask == 0) return;
  HostPointers places = pointers;
  places.contiguous = pointers.contiguous && part.mask == execution.mask;
  checks->access(part, instruction, global, addresses, places, nullptr);
}

}  // namespace halfgrad::emulator
