#pragma once

#include <halfgrad/emulator/memory/access.h>

namespace halfgrad::emulator {

/// Tells the checks of a strong access to global memory once more, after it has read its value.
/// resolve() tells them before: another block, on another host thread, may release between that and
/// the read, and the value then comes from a release that the checks did not see.
void observe_value(Execution& execution, const Instruction& instruction, const Access& access,
                   const LaneAddresses& addresses, const HostPointers& pointers);

}  // namespace halfgrad::emulator
