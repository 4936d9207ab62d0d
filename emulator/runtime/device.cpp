#include <halfgrad/emulator/runtime/device.h>

#include <array>
#include <atomic>
#include <vector>

#include <halfgrad/emulator/report/gpu_model.h>
#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/error_state.h>
#include <halfgrad/emulator/runtime/memory_pools.h>
#include <halfgrad/emulator/runtime/process.h>
#include <halfgrad/emulator/runtime/work.h>
#include <halfgrad/emulator/simt/device_heap.h>

namespace halfgrad::emulator {
namespace {

thread_local int selected_device = 0;

constexpr std::size_t kMaxDevices = 64;
std::array<std::array<std::atomic<bool>, kMaxDevices>, kMaxDevices> peers{};

DeviceOptions default_options() {
  DeviceOptions options;
  options.limits[cudaLimitStackSize] = 1024;
  options.limits[cudaLimitPrintfFifoSize] = 1 << 20;
  options.limits[cudaLimitMallocHeapSize] = 8 << 20;
  options.limits[cudaLimitDevRuntimeSyncDepth] = 2;
  options.limits[cudaLimitDevRuntimePendingLaunchCount] = 2048;
  options.limits[cudaLimitMaxL2FetchGranularity] = 64;
  return options;
}

/// Shared memory of one block with opt-in is 1 KB less than a multiprocessor's (programming guide,
/// "Technical Specifications per Compute Capability").
Gpu chosen_gpu() {
  const Settings& chosen = settings();
  const GpuModel model = gpu_model(chosen.gpu);
  Gpu gpu;
  gpu.name = model.name;
  gpu.major = static_cast<int>(model.compute_capability / 10);
  gpu.minor = static_cast<int>(model.compute_capability % 10);
  gpu.multiprocessors = model.multiprocessors;
  gpu.shared_bytes_per_multiprocessor = model.shared_bytes;
  gpu.shared_bytes_per_block_optin = model.shared_bytes - gpu.reserved_shared_bytes;
  gpu.registers_per_multiprocessor = model.registers;
  gpu.threads_per_multiprocessor = model.threads;
  gpu.blocks_per_multiprocessor = model.blocks;
  gpu.clock_khz = static_cast<int>(model.clock_hz / 1e3);
  gpu.l2_bytes = static_cast<int>(model.l2_bytes);
  if (chosen.multiprocessors != 0) gpu.multiprocessors = chosen.multiprocessors;
  return gpu;
}

/// Sets or removes the peer relation; `wanted` is the state that must hold before.
cudaError_t change_peer(int peer, bool enable) {
  const int device = current_device();
  if (!is_device(peer)) return cudaErrorInvalidDevice;
  if (peer == device) return cudaErrorInvalidDevice;
  auto& enabled = peers[static_cast<std::size_t>(device)][static_cast<std::size_t>(peer)];
  if (enabled.exchange(enable) != enable) return cudaSuccess;
  return enable ? cudaErrorPeerAccessAlreadyEnabled : cudaErrorPeerAccessNotEnabled;
}

}  // namespace

const Gpu& gpu_of(int) {
  static const Gpu gpu = chosen_gpu();
  return gpu;
}

int current_device() { return selected_device; }

bool is_device(int device) { return device >= 0 && device < process().settings.devices; }

DeviceOptions& device_options(int device) {
  // Never destroyed: destructors of the program's static objects may call the runtime.
  static auto& options = *new std::vector<DeviceOptions>(kMaxDevices, default_options());
  return options[static_cast<std::size_t>(device)];
}

bool may_access(int device, const Allocation& memory) {
  if (memory.pool != kNoPool) return pool_is_accessible(memory.pool, device);
  return peers[static_cast<std::size_t>(device)][static_cast<std::size_t>(memory.device)];
}

HALFGRAD_EMULATOR_API cudaError_t cudaGetDeviceCount(int* count) {
  return api_call_without_device("cudaGetDeviceCount", [&] {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = process().settings.devices;
    return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGetDevice(int* device) {
  return api_call_without_device("cudaGetDevice", [&] {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = current_device();
    return process().settings.devices > 0 ? cudaSuccess : cudaErrorNoDevice;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaSetDevice(int device) {
  return api_call_without_device("cudaSetDevice", [&] {
    if (process().settings.devices <= 0) return cudaErrorNoDevice;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    selected_device = device;
    return sticky_error();
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return api_call_without_device(
      "cudaInitDevice", [&] { return is_device(device) ? cudaSuccess : cudaErrorInvalidDevice; });
}

HALFGRAD_EMULATOR_API cudaError_t cudaDeviceSynchronize() {
  return api_call("cudaDeviceSynchronize", [] {
    if (const cudaError_t error = refuse_in_capture("cudaDeviceSynchronize")) return error;
    return wait_for_device(current_device());
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return api_call("cudaDeviceGetLimit", [&] {
    const auto i = static_cast<std::size_t>(limit);
    const DeviceOptions& options = device_options(current_device());
    if (value == nullptr) return cudaErrorInvalidValue;
    if (i >= options.limits.size()) return cudaErrorUnsupportedLimit;
    *value = options.limits[i];
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return api_call("cudaDeviceSetLimit", [&] {
    const auto i = static_cast<std::size_t>(limit);
    DeviceOptions& options = device_options(current_device());
    if (i >= options.limits.size()) return cudaErrorUnsupportedLimit;
    const bool heap = limit == cudaLimitMallocHeapSize;
    // The heap keeps its size once a kernel has used it (programming guide, "Heap Memory
    // Allocation").
    if (heap && !device_heap(current_device()).resize(value)) return cudaErrorInvalidValue;
    options.limits[i] = value;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return api_call("cudaSetDeviceFlags", [&] {
    if ((flags & ~unsigned{cudaDeviceMask}) != 0) return cudaErrorInvalidValue;
    device_options(current_device()).flags = flags;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return api_call("cudaGetDeviceFlags", [&] {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = device_options(current_device()).flags | cudaDeviceMapHost;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache cache) {
  return api_call("cudaDeviceSetCacheConfig", [&] {
    device_options(current_device()).cache = cache;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* cache) {
  return api_call("cudaDeviceGetCacheConfig", [&] {
    *cache = device_options(current_device()).cache;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig banks) {
  return api_call("cudaDeviceSetSharedMemConfig", [&] {
    device_options(current_device()).banks = banks;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* banks) {
  return api_call("cudaDeviceGetSharedMemConfig", [&] {
    *banks = cudaSharedMemBankSizeFourByte;  // the only one since compute capability 5.0
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaCtxResetPersistingL2Cache() {
  return api_call("cudaCtxResetPersistingL2Cache", [] { return cudaSuccess; });
}

HALFGRAD_EMULATOR_API cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return api_call("cudaDeviceCanAccessPeer", [&] {
    if (!is_device(device) || !is_device(peer)) return cudaErrorInvalidDevice;
    *can = device != peer ? 1 : 0;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return api_call("cudaDeviceEnablePeerAccess",
                  [&] { return flags != 0 ? cudaErrorInvalidValue : change_peer(peer, true); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return api_call("cudaDeviceDisablePeerAccess", [&] { return change_peer(peer, false); });
}

}  // namespace halfgrad::emulator
