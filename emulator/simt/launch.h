#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include <halfgrad/emulator/checks/launch_checks.h>
#include <halfgrad/emulator/memory/allocations.h>
#include <halfgrad/emulator/ptx/module.h>
#include <halfgrad/emulator/settings.h>
#include <halfgrad/emulator/simt/counters.h>
#include <halfgrad/emulator/simt/lanes.h>

namespace halfgrad::emulator {

class ChildLaunches;
class ConstantReads;
class DeviceApi;
class DeviceHeap;
class TextureTable;

/// State that a launch shares with the rest of the process.
struct Machine {
  Allocations& memory;
  FindingLog& findings;
  const Settings& settings;
  unsigned multiprocessors = 108;
  std::size_t shared_bytes_per_block = 163 * 1024;  ///< largest static + dynamic shared memory
  /// Heap of malloc in kernels. Without one, malloc returns nullptr, as if the heap were full.
  DeviceHeap* heap = nullptr;
  const TextureTable* textures = nullptr;  ///< texture and surface objects, or nullptr: none
  DeviceApi* device_api = nullptr;         ///< the CUDA runtime, for kernels that call it
  /// cudaGraphSetConditional in kernels. Returns false if the handle is unknown.
  bool (*set_condition)(std::uint64_t handle, std::uint32_t value) = nullptr;
  int device = 0;
  /// Whether kernels on `device` may access memory of another device. nullptr: they may.
  bool (*may_access)(int device, const Allocation& memory) = nullptr;
};

/// One kernel launch, already checked against the device's limits.
struct LaunchRequest {
  Module& module;
  const Kernel& kernel;
  Dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  const std::byte* parameters = nullptr;  ///< packed parameters, kernel.parameter_bytes bytes
  bool cooperative = false;
  Dim3 cluster{};  ///< blocks of a cluster; divides the grid
  OperationId operation = 0;
  const OperationOrder* order = nullptr;
};

/// Bytes of shared memory that CUDA reserves in each block. Cooperative groups of several warps
/// keep their barriers there (cooperative_groups/details/memory.h).
inline constexpr std::size_t kReservedShared = 1024;

/// State of a running launch that blocks share.
struct Launch {
  const Machine& machine;
  const LaunchRequest& request;
  std::size_t dynamic_shared_begin = 0;    ///< byte offset in a block's shared memory
  std::size_t shared_bytes = 0;            ///< static and dynamic shared memory of a block
  std::size_t reserved_shared_begin = 0;   ///< byte offset, or 0: the kernel reads no address of it
  std::shared_ptr<LaunchChecks> checks{};  ///< nullptr: no check of accesses
  std::uint32_t first_block = 0;           ///< number of its first block among those of the checks
  KnownAccesses known{};                   ///< accesses that the whole grid is ordered after
  ChildLaunches* children = nullptr;       ///< grids that the kernel launches
  const Allocation* workspace = nullptr;   ///< grid barrier of cooperative groups, or nullptr
  ConstantReads* constant_reads = nullptr;  ///< nullptr: nobody asks for them
};

/// Runs the whole grid, with its blocks spread over host threads, then the grids that its kernel
/// launched, and returns the counters of the first one. Findings go to the machine's log. Throws
/// KernelAborted where a GPU would abort the kernel; with `failure`, the exception goes there, and
/// the counters until then are returned.
LaunchCounters run(const Machine& machine, const LaunchRequest& request,
                   std::exception_ptr* failure = nullptr);

/// Runs one grid. `launch` needs its machine, request, checks and children. An exception that ended
/// a block goes to `failure`.
LaunchCounters run_one_grid(Launch& launch, std::exception_ptr& failure);

}  // namespace halfgrad::emulator
