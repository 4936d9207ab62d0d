#include <halfgrad/emulator/runtime/launches.h>

namespace halfgrad::emulator {

LaunchLog& launch_log() {
  static LaunchLog* const log = new LaunchLog;
  return *log;
}

}  // namespace halfgrad::emulator
