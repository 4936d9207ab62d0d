#pragma once

#include <halfgrad/emulator/runtime/modules.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {

/// Adds the counters of a finished launch to the report.
void add_launch(const KernelFunction& function, const LaunchRequest& request,
                LaunchCounters counters);

}  // namespace halfgrad::emulator
