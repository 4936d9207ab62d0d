#pragma once

#include <string>

#include <halfgrad/emulator/runtime/process.h>

namespace halfgrad::emulator {

/// Thrown where a call fails inside; what was wrong is already in the log of findings.
struct CallFailed {
  cudaError_t error;
};

/// The error code for the exception that is being handled; prints what no code can say.
cudaError_t error_of_current_exception(const char* function) noexcept;

/// Runs the body of a function of the C API. Exceptions become error codes, and a failure is
/// remembered for cudaGetLastError.
template <class Body>
cudaError_t api_call_without_device(const char* function, Body body) noexcept {
  try {
    const cudaError_t error = body();
    return error == cudaSuccess ? error : set_error(error);
  } catch (...) {
    return set_error(error_of_current_exception(function));
  }
}

/// Runs the body of a function of the C API that needs a working device. After an aborted kernel,
/// every such call returns its error.
template <class Body>
cudaError_t api_call(const char* function, Body body) noexcept {
  return api_call_without_device(function, [&] {
    if (process().settings.devices <= 0) return cudaErrorNoDevice;
    if (const cudaError_t error = sticky_error(); error != cudaSuccess) return error;
    return body();
  });
}

/// Callers of a function of the C API, for messages: "program+0x1234 (main)", at most four, the
/// innermost first. Without debug information nvcc's host code has wrappers of cudaMalloc and of
/// launches, so the innermost is not enough. `address` is the function's return address.
std::string call_site(const void* address);
/// Callers of the function of the C API that runs in this thread; "" if no program called it.
std::string call_sites();

/// "0x7f0012345600".
std::string address_text(std::uint64_t value);

}  // namespace halfgrad::emulator

/// The place that called the function of the C API that this stands in.
#define HALFGRAD_EMULATOR_CALLER __builtin_return_address(0)
