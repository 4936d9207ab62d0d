#pragma once

#include <string>

#include <halfgrad/core/device.h>

namespace halfgrad::cuda {

/// A GPU's figures, as torch.cuda.get_device_properties has them, and two that a roofline needs.
struct DeviceProperties {
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  int multi_processor_count = 0;
  double clock_rate = 0;        ///< maximum of the multiprocessors, in Hz
  double memory_bandwidth = 0;  ///< in bytes per second, in theory
};

/// Throws std::invalid_argument unless `device` is one of this machine's GPUs.
DeviceProperties get_device_properties(Device device = kCUDA);

}  // namespace halfgrad::cuda
