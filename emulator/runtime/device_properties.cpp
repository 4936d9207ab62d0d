#include <cstdio>
#include <cstring>
#include <map>

#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/device.h>
#include <halfgrad/emulator/runtime/texture_properties.h>

namespace halfgrad::emulator {
namespace {

int number(std::size_t value) { return static_cast<int>(value); }

constexpr int kFirstBus = 1;

/// Attributes with a value of their own; all others are 0: features that the emulator lacks.
std::map<int, int> attributes_of(const Gpu& gpu, int device) {
  return {
      {cudaDevAttrMaxThreadsPerBlock, 1024},
      {cudaDevAttrMaxBlockDimX, 1024},
      {cudaDevAttrMaxBlockDimY, 1024},
      {cudaDevAttrMaxBlockDimZ, 64},
      {cudaDevAttrMaxGridDimX, 0x7fffffff},
      {cudaDevAttrMaxGridDimY, 65535},
      {cudaDevAttrMaxGridDimZ, 65535},
      {cudaDevAttrMaxSharedMemoryPerBlock, number(gpu.shared_bytes_per_block)},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, number(gpu.shared_bytes_per_block_optin)},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, number(gpu.shared_bytes_per_multiprocessor)},
      {cudaDevAttrReservedSharedMemoryPerBlock, number(gpu.reserved_shared_bytes)},
      {cudaDevAttrTotalConstantMemory, 65536},
      {cudaDevAttrWarpSize, 32},
      {cudaDevAttrMaxPitch, 0x7fffffff},
      {cudaDevAttrMaxRegistersPerBlock, number(gpu.registers_per_block)},
      {cudaDevAttrMaxRegistersPerMultiprocessor, number(gpu.registers_per_multiprocessor)},
      {cudaDevAttrClockRate, gpu.clock_khz},
      {cudaDevAttrMemoryClockRate, gpu.memory_clock_khz},
      {cudaDevAttrGlobalMemoryBusWidth, gpu.memory_bus_bits},
      {cudaDevAttrL2CacheSize, gpu.l2_bytes},
      {cudaDevAttrGpuOverlap, 1},
      {cudaDevAttrAsyncEngineCount, 3},
      {cudaDevAttrMultiProcessorCount, number(gpu.multiprocessors)},
      {cudaDevAttrMaxThreadsPerMultiProcessor, number(gpu.threads_per_multiprocessor)},
      {cudaDevAttrMaxBlocksPerMultiprocessor, number(gpu.blocks_per_multiprocessor)},
      {cudaDevAttrComputeCapabilityMajor, gpu.major},
      {cudaDevAttrComputeCapabilityMinor, gpu.minor},
      {cudaDevAttrCanMapHostMemory, 1},
      {cudaDevAttrConcurrentKernels, 1},
      {cudaDevAttrPciBusId, kFirstBus + device},
      {cudaDevAttrUnifiedAddressing, 1},
      {cudaDevAttrStreamPrioritiesSupported, 1},
      {cudaDevAttrGlobalL1CacheSupported, 1},
      {cudaDevAttrLocalL1CacheSupported, 1},
      {cudaDevAttrManagedMemory, 1},
      {cudaDevAttrConcurrentManagedAccess, 1},
      {cudaDevAttrSingleToDoublePrecisionPerfRatio, gpu.major == 8 && gpu.minor != 0 ? 64 : 2},
      {cudaDevAttrComputePreemptionSupported, 1},
      {cudaDevAttrCanUseHostPointerForRegisteredMem, 1},
      {cudaDevAttrCooperativeLaunch, 1},
      {cudaDevAttrClusterLaunch, gpu.major >= 9 ? 1 : 0},
      {cudaDevAttrHostRegisterSupported, 1},
      {cudaDevAttrMemoryPoolsSupported, 1},
  };
}

}  // namespace

cudaError_t device_attribute(int* value, int attribute, int device) {
  if (value == nullptr || attribute <= 0 || attribute >= cudaDevAttrMax)
    return cudaErrorInvalidValue;
  if (!is_device(device)) return cudaErrorInvalidDevice;
  auto attributes = attributes_of(gpu_of(device), device);
  add_texture_attributes(attributes);
  const auto found = attributes.find(attribute);
  *value = found == attributes.end() ? 0 : found->second;
  return cudaSuccess;
}

HALFGRAD_EMULATOR_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute,
                                                         int device) {
  return api_call_without_device("cudaDeviceGetAttribute",
                                 [&] { return device_attribute(value, attribute, device); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return api_call_without_device("cudaGetDeviceProperties", [&] {
    if (properties == nullptr) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    const Gpu& gpu = gpu_of(device);
    cudaDeviceProp p{};
    std::snprintf(p.name, sizeof p.name, "%s (halfgrad emulator)", gpu.name.c_str());
    std::memcpy(p.uuid.bytes, "halfgrad-gpu", 12);
    p.uuid.bytes[15] = static_cast<char>(device);
    p.totalGlobalMem = process().settings.memory;
    p.sharedMemPerBlock = gpu.shared_bytes_per_block;
    p.sharedMemPerBlockOptin = gpu.shared_bytes_per_block_optin;
    p.sharedMemPerMultiprocessor = gpu.shared_bytes_per_multiprocessor;
    p.reservedSharedMemPerBlock = gpu.reserved_shared_bytes;
    p.regsPerBlock = number(gpu.registers_per_block);
    p.regsPerMultiprocessor = number(gpu.registers_per_multiprocessor);
    p.warpSize = 32;
    p.memPitch = 0x7fffffff;
    p.maxThreadsPerBlock = 1024;
    p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
    p.maxThreadsDim[2] = 64;
    p.maxGridSize[0] = 0x7fffffff;
    p.maxGridSize[1] = p.maxGridSize[2] = 65535;
    p.totalConstMem = 65536;
    p.major = gpu.major;
    p.minor = gpu.minor;
    add_texture_properties(p);
    p.multiProcessorCount = number(gpu.multiprocessors);
    p.maxThreadsPerMultiProcessor = number(gpu.threads_per_multiprocessor);
    p.maxBlocksPerMultiProcessor = number(gpu.blocks_per_multiprocessor);
    p.memoryBusWidth = gpu.memory_bus_bits;
    p.l2CacheSize = gpu.l2_bytes;
    p.pciBusID = kFirstBus + device;
    p.asyncEngineCount = 3;
    p.canMapHostMemory = p.concurrentKernels = p.unifiedAddressing = 1;
    p.streamPrioritiesSupported = p.globalL1CacheSupported = p.localL1CacheSupported = 1;
    p.managedMemory = p.concurrentManagedAccess = p.computePreemptionSupported = 1;
    p.canUseHostPointerForRegisteredMem = p.cooperativeLaunch = 1;
    p.hostRegisterSupported = p.memoryPoolsSupported = 1;
#if CUDART_VERSION < 13000
    p.clockRate = gpu.clock_khz;
    p.memoryClockRate = gpu.memory_clock_khz;
    p.deviceOverlap = 1;
#endif
    *properties = p;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  return api_call_without_device("cudaChooseDevice", [&] {
    if (device == nullptr || wanted == nullptr) return cudaErrorInvalidValue;
    if (!is_device(0)) return cudaErrorNoDevice;
    *device = 0;  // all devices are alike
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaSetValidDevices(int* devices, int count) {
  return api_call_without_device("cudaSetValidDevices", [&] {
    for (int i = 0; i < count; ++i) {
      if (!is_device(devices[i])) return cudaErrorInvalidDevice;
    }
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  return api_call_without_device("cudaDeviceGetPCIBusId", [&] {
    if (text == nullptr || bytes < 13) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    std::snprintf(text, static_cast<std::size_t>(bytes), "0000:%02X:00.0",
                  static_cast<unsigned>(kFirstBus + device));
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return api_call_without_device("cudaDeviceGetByPCIBusId", [&] {
    if (device == nullptr || text == nullptr) return cudaErrorInvalidValue;
    unsigned domain = 0, bus = 0;
    if (std::sscanf(text, "%x:%x", &domain, &bus) != 2) return cudaErrorInvalidValue;
    if (domain != 0 || !is_device(static_cast<int>(bus) - kFirstBus)) return cudaErrorInvalidDevice;
    *device = static_cast<int>(bus) - kFirstBus;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute,
                                                            int device, int peer) {
  return api_call_without_device("cudaDeviceGetP2PAttribute", [&] {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (!is_device(device) || !is_device(peer) || device == peer) return cudaErrorInvalidDevice;
    *value = attribute == cudaDevP2PAttrAccessSupported ? 1 : 0;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaDriverGetVersion(int* version) {
  return api_call_without_device("cudaDriverGetVersion", [&] {
    if (version == nullptr) return cudaErrorInvalidValue;
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaRuntimeGetVersion(int* version) {
  return cudaDriverGetVersion(version);
}

}  // namespace halfgrad::emulator
