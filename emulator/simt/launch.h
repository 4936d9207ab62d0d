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

class DeviceHeap;

/// State that a launch shares with the rest of the process.
struct Machine {
  Allocations& memory;
  FindingLog& findings;
  const Settings& settings;
  unsigned multiprocessors = 108;
  std::size_t shared_bytes_per_block = 163 * 1024;  ///< largest static + dynamic shared memory
  /// Heap of malloc in kernels. Without one, malloc returns nullptr, as if the heap were full.
  DeviceHeap* heap = nullptr;
};

/// One kernel launch, already checked against the device's limits.
struct LaunchRequest {
  Module& module;
  const Kernel& kernel;
  Dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  const std::byte* parameters = nullptr;  ///< packed parameters, kernel.parameter_bytes bytes
  bool cooperative = false;
  OperationId operation = 0;
  const OperationOrder* order = nullptr;
};

/// State of a running launch that blocks share.
struct Launch {
  const Machine& machine;
  const LaunchRequest& request;
  std::size_t dynamic_shared_begin = 0;    ///< byte offset in a block's shared memory
  std::size_t shared_bytes = 0;            ///< static and dynamic shared memory of a block
  std::unique_ptr<LaunchChecks> checks{};  ///< nullptr: no check of accesses
  const Allocation* workspace = nullptr;   ///< grid barrier of cooperative groups, or nullptr
};

/// Runs the whole grid, with its blocks spread over host threads, and returns the counters.
/// Findings go to the machine's log. Throws KernelAborted where a GPU would abort the kernel; with
/// `failure`, the exception goes there, and the counters until then are returned.
LaunchCounters run(const Machine& machine, const LaunchRequest& request,
                   std::exception_ptr* failure = nullptr);

}  // namespace halfgrad::emulator
