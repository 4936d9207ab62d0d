#include <algorithm>

#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/device.h>
#include <halfgrad/emulator/runtime/kernel_limits.h>
#include <halfgrad/emulator/runtime/modules.h>

namespace halfgrad::emulator {
namespace {

KernelFunction& function_named(const void* host) {
  KernelFunction* function = module_table().find_kernel(host);
  if (function == nullptr) throw CallFailed{cudaErrorInvalidDeviceFunction};
  return *function;
}

cudaError_t active_blocks(int* blocks, const void* host, int threads, std::size_t shared) {
  return api_call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&] {
    if (blocks == nullptr || threads <= 0) return cudaErrorInvalidValue;
    const int device = current_device();
    const Kernel& kernel = function_named(host).kernel(device);
    *blocks =
        static_cast<int>(resident_blocks(kernel, device, static_cast<unsigned>(threads), shared));
    return cudaSuccess;
  });
}

}  // namespace

HALFGRAD_EMULATOR_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes,
                                                        const void* host) {
  return api_call("cudaFuncGetAttributes", [&] {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    const int device = current_device();
    const KernelFunction& function = function_named(host);
    const Kernel& kernel = function.kernel(device);
    const Gpu& gpu = gpu_of(device);
    *attributes = {};
    attributes->sharedSizeBytes = kernel.static_shared_bytes;
    attributes->localSizeBytes = kernel.local_bytes;
    attributes->maxThreadsPerBlock = static_cast<int>(std::min(1024u, kernel.max_threads));
    attributes->numRegs = static_cast<int>(estimated_registers(kernel, device));
    attributes->ptxVersion = static_cast<int>(function.image->on(device).target());
    attributes->binaryVersion = gpu.major * 10 + gpu.minor;
    attributes->maxDynamicSharedSizeBytes =
        static_cast<int>(dynamic_shared_limit(function, kernel, device));
    attributes->requiredClusterWidth = static_cast<int>(kernel.required_cluster[0]);
    attributes->requiredClusterHeight = static_cast<int>(kernel.required_cluster[1]);
    attributes->requiredClusterDepth = static_cast<int>(kernel.required_cluster[2]);
    attributes->nonPortableClusterSizeAllowed =
        function.devices[static_cast<std::size_t>(device)].large_clusters ? 1 : 0;
    attributes->preferredShmemCarveout =
        function.devices[static_cast<std::size_t>(device)].carveout;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaFuncSetAttribute(const void* host,
                                                       cudaFuncAttribute attribute, int value) {
  return api_call("cudaFuncSetAttribute", [&] {
    const int device = current_device();
    KernelFunction& function = function_named(host);
    auto& chosen = function.devices[static_cast<std::size_t>(device)];
    switch (attribute) {
      case cudaFuncAttributeMaxDynamicSharedMemorySize: {
        const std::size_t most = gpu_of(device).shared_bytes_per_block_optin;
        const std::size_t fixed = function.kernel(device).static_shared_bytes;
        if (value < 0 || static_cast<std::size_t>(value) + fixed > most)
          return cudaErrorInvalidValue;
        chosen.max_dynamic_shared = value;
        return cudaSuccess;
      }
      case cudaFuncAttributePreferredSharedMemoryCarveout:
        if (value < -1 || value > 100) return cudaErrorInvalidValue;
        chosen.carveout = value;
        return cudaSuccess;
      case cudaFuncAttributeNonPortableClusterSizeAllowed:
        if (value != 0 && value != 1) return cudaErrorInvalidValue;
        chosen.large_clusters = value != 0;
        return cudaSuccess;
      case cudaFuncAttributeClusterSchedulingPolicyPreference:
        return cudaSuccess;  // a hint
      default:
        return cudaErrorNotSupported;
    }
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaFuncSetCacheConfig(const void* host, cudaFuncCache) {
  return api_call("cudaFuncSetCacheConfig", [&] {
    function_named(host);
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaFuncSetSharedMemConfig(const void* host,
                                                             cudaSharedMemConfig) {
  return api_call("cudaFuncSetSharedMemConfig", [&] {
    function_named(host);
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaFuncGetParamInfo(const void* host, std::size_t index,
                                                       std::size_t* offset, std::size_t* bytes) {
  return api_call("cudaFuncGetParamInfo", [&] {
    const auto& parameters = function_named(host).kernel(current_device()).main->parameters;
    if (offset == nullptr || index >= parameters.size()) return cudaErrorInvalidValue;
    *offset = parameters[index].offset;
    if (bytes != nullptr) *bytes = parameters[index].bytes;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int* blocks, const void* host, int threads, std::size_t shared) {
  return active_blocks(blocks, host, threads, shared);
}

HALFGRAD_EMULATOR_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* host, int threads, std::size_t shared, unsigned) {
  return active_blocks(blocks, host, threads, shared);
}

HALFGRAD_EMULATOR_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes,
                                                                            const void* host,
                                                                            int blocks, int) {
  return api_call("cudaOccupancyAvailableDynamicSMemPerBlock", [&] {
    if (bytes == nullptr || blocks <= 0) return cudaErrorInvalidValue;
    const int device = current_device();
    const Gpu& gpu = gpu_of(device);
    const std::size_t used =
        function_named(host).kernel(device).static_shared_bytes + gpu.reserved_shared_bytes;
    const std::size_t share =
        gpu.shared_bytes_per_multiprocessor / static_cast<std::size_t>(blocks);
    *bytes = std::min(share - std::min(share, used), gpu.shared_bytes_per_block_optin);
    return cudaSuccess;
  });
}

}  // namespace halfgrad::emulator
