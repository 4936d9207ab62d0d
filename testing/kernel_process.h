#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include <halfgrad/testing/kernel_case.h>
#include <halfgrad/testing/stray_access.h>

namespace halfgrad::testing {

/// The end of a kernel's process during a call, or its hanging: a fault of the kernel.
struct KernelStopped : std::runtime_error {
  KernelStopped(Fault what, const std::string& message)
      : std::runtime_error(message), fault(what) {}
  explicit KernelStopped(const StrayAccess& stray)
      : KernelStopped(stray.fault, stray.described("array " + std::to_string(stray.array))) {
    access = stray;
  }
  Fault fault;
  std::optional<StrayAccess> access;  ///< the access that ended the process
};

/// A kernel returned, but left its caller's state changed.
struct KernelChangedState : std::runtime_error {
  KernelChangedState(const std::string& change, bool flushes)
      : std::runtime_error(change), only_flushes(flushes) {}
  bool only_flushes;  ///< subnormals are now flushed to 0, nothing else changed
};

/// Starts the process of a kernel, which calls serve_kernel(). In the new process it does not
/// return.
using StartKernel = std::function<void(int socket, int memory)>;

/// Makes a new process, as fork() does. An interpreter, such as Python's, must be told about it.
using Fork = std::function<int()>;

/// A kernel that runs in a process of its own, made by `fork` (fork() if it is empty) and `start`.
/// The process starts at the first call, and again after a crash. The arrays of a call lie in
/// SharedMemory. The kernel throws KernelStopped if its process ends, or does not return within
/// `timeout` seconds, KernelChangedState, and std::runtime_error with the text of an exception.
/// Throws KernelUnavailable if the process cannot make the kernel.
Kernel kernel_in_process(const StartKernel& start, double timeout, const Fork& fork = {});

/// Runs a function of this program in a process of its own, on two threads (second_thread.h).
Kernel kernel_in_process(const Kernel& kernel, double timeout);

/// The kernel cannot be loaded: not a fault of the kernel.
struct KernelUnavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace halfgrad::testing
