#pragma once

#include <functional>

#include <cuda_runtime_api.h>

#include <halfgrad/emulator/checks/finding.h>
#include <halfgrad/emulator/memory/allocations.h>
#include <halfgrad/emulator/settings.h>
#include <halfgrad/emulator/simt/launch.h>

/// Exports a function of the stand-in libraries that programs call.
#define HALFGRAD_EMULATOR_API extern "C" __attribute__((visibility("default")))
/// Exports a C++ function of libcudart's stand-in to the other stand-in libraries (cuBLASLt). The
/// rest of the emulator is hidden: each library may link its own copy of pure functions, but only
/// libcudart's stand-in holds state.
#define HALFGRAD_EMULATOR_SHARED __attribute__((visibility("default")))

namespace halfgrad::emulator {

/// State of the emulated process that the parts of the runtime share.
struct Process {
  const Settings& settings;
  Allocations memory;
  FindingLog findings;
};
HALFGRAD_EMULATOR_SHARED Process& process();

/// The device that the calling thread selected with cudaSetDevice.
HALFGRAD_EMULATOR_SHARED int current_device();
/// The heap of malloc in kernels of a device.
DeviceHeap& device_heap(int device);
/// The machine that runs kernels of a device.
Machine machine(int device);

/// Remembers an error for cudaGetLastError and returns it. An aborted kernel's error is sticky:
/// every later call returns it, unless Settings::continue_after_abort.
HALFGRAD_EMULATOR_SHARED cudaError_t set_error(cudaError_t error);
/// The sticky error of a device, by default the current one, or cudaSuccess.
HALFGRAD_EMULATOR_SHARED cudaError_t sticky_error();
cudaError_t sticky_error(int device);
void set_sticky_error(cudaError_t error, int device = current_device());
/// The error that programs see after a kernel was aborted for a finding of this kind.
cudaError_t error_after(FindingKind kind);

/// Watches memory that host and devices share until work runs or the host waits for some.
void watch_host_memory(const OperationOrder& order, const std::function<OperationId()>& host);

/// Adds a finding that no kernel made: a wrong argument, an illegal call. A call that only returns
/// an error to its caller deserves a note.
HALFGRAD_EMULATOR_SHARED void report_call(FindingKind kind, const char* function,
                                          std::string message, Severity severity = Severity::error);

/// Returns the host address of `bytes` bytes at a device pointer, for library calls and copies.
/// Reports a range that is not in one live allocation, and then returns nullptr.
HALFGRAD_EMULATOR_SHARED std::byte* host_view(const void* pointer, std::size_t bytes,
                                              AccessKind kind, OperationId operation,
                                              const char* function);

/// Ends the process because the program called a function that the emulator lacks. Writes the
/// report first; the exit code is 8.
[[noreturn]] HALFGRAD_EMULATOR_SHARED void end_at_unknown_function(const char* function);

}  // namespace halfgrad::emulator
