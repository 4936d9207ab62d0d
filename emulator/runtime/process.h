#pragma once

#include <cuda_runtime_api.h>

#include <halfgrad/emulator/checks/finding.h>
#include <halfgrad/emulator/memory/allocations.h>
#include <halfgrad/emulator/settings.h>
#include <halfgrad/emulator/simt/launch.h>

/// Marks a function of the stand-in libraries that programs call.
#define HALFGRAD_EMULATOR_API extern "C" __attribute__((visibility("default")))

namespace halfgrad::emulator {

/// State of the emulated process that the parts of the runtime share.
struct Process {
  const Settings& settings;
  Allocations memory;
  FindingLog findings;
};
Process& process();

/// The device that the calling thread selected with cudaSetDevice.
int current_device();
/// The machine that runs kernels of a device.
Machine machine(int device);

/// Remembers an error for cudaGetLastError and returns it. An aborted kernel's error is sticky: every
/// later call returns it, unless Settings::continue_after_abort.
cudaError_t set_error(cudaError_t error);
/// The sticky error, or cudaSuccess.
cudaError_t sticky_error();
void set_sticky_error(cudaError_t error);

/// Adds a finding that no kernel made: a wrong argument, an illegal call.
void report_call(FindingKind kind, const char* function, std::string message);

/// Device pointer to the emulator's view of `bytes` bytes of it, for library calls and copies. Reports
/// a range that is not in one live allocation and returns nullptr.
std::byte* host_view(const void* pointer, std::size_t bytes, AccessKind kind, OperationId operation,
                     const char* function);

}  // namespace halfgrad::emulator
