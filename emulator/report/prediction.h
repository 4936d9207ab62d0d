#pragma once

#include <cstdint>

#include <halfgrad/emulator/report/gpu_model.h>
#include <halfgrad/emulator/report/process_report.h>

namespace halfgrad::emulator {

/// The time that a launch would take on a GPU by a simple model, and never a measurement:
///
///     seconds = launch + max(memory, arithmetic, dependency)
///
/// memory: all 32-byte sectors at the peak bandwidth. Caches are left out, so a kernel that reads
/// data again is predicted too slow. arithmetic: the slowest pipe at its peak rate. dependency: a
/// warp's instructions one after the other, 6 cycles each, times the waves of blocks.
struct Prediction {
  double occupancy = 0;  ///< resident warps of a multiprocessor, of the most that it holds
  unsigned blocks_per_multiprocessor = 0;
  double memory_seconds = 0, arithmetic_seconds = 0, dependency_seconds = 0;
  double seconds = 0;
  const char* bound_by = "launch";
};

Prediction predict(const GpuModel& gpu, const LaunchRecord& launch, const KernelRecord& kernel);

}  // namespace halfgrad::emulator
