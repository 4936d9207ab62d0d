#include <halfgrad/emulator/runtime/kernel_api.h>

#include <map>
#include <mutex>

#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/clusters.h>
#include <halfgrad/emulator/runtime/device.h>
#include <halfgrad/emulator/runtime/kernel_limits.h>
#include <halfgrad/emulator/runtime/launches.h>
#include <halfgrad/emulator/runtime/modules.h>
#include <halfgrad/emulator/runtime/process.h>

namespace halfgrad::emulator {
namespace {

dim3 sizes(const Dim3& size) { return dim3(size.x, size.y, size.z); }

class KernelApi final : public DeviceApi {
 public:
  explicit KernelApi(int device) : device_(device) {}

  int attribute(int attribute, int device, int& value) override {
    return device_attribute(&value, attribute, device);
  }
  int limit(int limit, std::size_t& value) override {
    const auto& limits = device_options(device_).limits;
    const auto i = static_cast<std::size_t>(limit);
    if (limit < 0 || i >= limits.size()) return cudaErrorUnsupportedLimit;
    value = limits[i];
    return cudaSuccess;
  }
  int device() override { return device_; }
  int device_count() override { return process().settings.devices; }
  int runtime_version() override { return CUDART_VERSION; }
  std::string error_text(int error, bool name) override {
    const auto code = static_cast<cudaError_t>(error);
    return name ? cudaGetErrorName(code) : cudaGetErrorString(code);
  }
  int active_blocks(const Kernel& kernel, int threads, std::size_t dynamic_shared) override {
    return static_cast<int>(
        resident_blocks(kernel, device_, static_cast<unsigned>(threads), dynamic_shared));
  }
  int check_launch(const Kernel& kernel, const Dim3& grid, const Dim3& block,
                   std::size_t dynamic_shared, std::string& why) override {
    const KernelFunction* const function = module_table().find_kernel_named(kernel.main->name);
    if (function == nullptr) return cudaErrorInvalidDeviceFunction;
    const cudaError_t error = check_limits(*function, kernel, device_, sizes(grid), sizes(block),
                                           dynamic_shared, false, why);
    dim3 cluster;
    return error != cudaSuccess ? error
                                : choose_cluster(*function, kernel, device_, sizes(grid),
                                                 dim3(0, 0, 0), cluster, why);
  }
  void launched(const LaunchRequest& request, const LaunchCounters& counters) override {
    launch_log().add(request, counters);
  }

 private:
  int device_;
};

}  // namespace

DeviceApi& kernel_api(int device) {
  static std::mutex mutex;
  static auto* const apis = new std::map<int, KernelApi>;  // never destroyed, as the process
  const std::lock_guard lock(mutex);
  return apis->try_emplace(device, device).first->second;
}

}  // namespace halfgrad::emulator
