#pragma once

#include <cstddef>
#include <string>

#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {

/// Answers of the CUDA runtime to kernels that call it. Errors are values of cudaError_t.
class DeviceApi {
 public:
  virtual ~DeviceApi() = default;

  virtual int attribute(int attribute, int device, int& value) = 0;
  virtual int limit(int limit, std::size_t& value) = 0;
  virtual int device() = 0;
  virtual int device_count() = 0;
  virtual int runtime_version() = 0;
  /// "an illegal memory access was encountered", or "cudaErrorIllegalAddress" if `name`.
  virtual std::string error_text(int error, bool name) = 0;
  virtual int active_blocks(const Kernel& kernel, int threads, std::size_t dynamic_shared) = 0;

  /// Whether the device can run the launch; `why` tells what it cannot.
  virtual int check_launch(const Kernel& kernel, const Dim3& grid, const Dim3& block,
                           std::size_t dynamic_shared, std::string& why) = 0;
  /// A grid that a kernel launched has ended.
  virtual void launched(const LaunchRequest& request, const LaunchCounters& counters) = 0;
};

}  // namespace halfgrad::emulator
