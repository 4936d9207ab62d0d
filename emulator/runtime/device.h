#pragma once

#include <array>
#include <cstddef>
#include <string>

#include <cuda_runtime_api.h>

#include <halfgrad/emulator/memory/allocations.h>

namespace halfgrad::emulator {

/// Limits and figures of a GPU that programs ask for (CUDA programming guide, "Technical
/// Specifications per Compute Capability").
struct Gpu {
  std::string name = "NVIDIA A100-SXM4-40GB";
  int major = 8, minor = 0;
  unsigned multiprocessors = 108;
  std::size_t shared_bytes_per_block = 48 * 1024;
  std::size_t shared_bytes_per_block_optin = 163 * 1024;
  std::size_t shared_bytes_per_multiprocessor = 164 * 1024;
  std::size_t reserved_shared_bytes = 1024;  ///< CUDA's own share in each block
  unsigned registers_per_multiprocessor = 65536;
  unsigned registers_per_block = 65536;
  unsigned threads_per_multiprocessor = 2048;
  unsigned blocks_per_multiprocessor = 32;
  int clock_khz = 1410000;
  int memory_clock_khz = 1215000;
  int memory_bus_bits = 5120;
  int l2_bytes = 40 << 20;
};
const Gpu& gpu_of(int device);

bool is_device(int device);
/// An attribute (cudaDeviceAttr) of a device.
cudaError_t device_attribute(int* value, int attribute, int device);

/// Limits and switches of a device that programs set.
struct DeviceOptions {
  std::array<std::size_t, cudaLimitPersistingL2CacheSize + 1> limits{};
  unsigned flags = cudaDeviceScheduleAuto;
  cudaFuncCache cache = cudaFuncCachePreferNone;
  cudaSharedMemConfig banks = cudaSharedMemBankSizeFourByte;
};
DeviceOptions& device_options(int device);

/// Whether kernels on `device` may access memory of another device: as a peer, or by the rights of
/// the memory's pool.
bool may_access(int device, const Allocation& memory);

}  // namespace halfgrad::emulator
