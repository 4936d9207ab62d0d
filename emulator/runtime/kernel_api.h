#pragma once

#include <halfgrad/emulator/simt/device_api.h>

namespace halfgrad::emulator {

/// Answers calls of the runtime by kernels of a device.
DeviceApi& kernel_api(int device);

}  // namespace halfgrad::emulator
