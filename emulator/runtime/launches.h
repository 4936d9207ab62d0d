#pragma once

#include <halfgrad/emulator/report/process_report.h>

namespace halfgrad::emulator {

/// Launches of this process, for the report at its end.
LaunchLog& launch_log();

}  // namespace halfgrad::emulator
