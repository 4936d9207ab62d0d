#pragma once

#include <memory>
#include <mutex>

#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/process.h>
#include <halfgrad/emulator/runtime/streams/stream_state.h>

namespace halfgrad::emulator {

/// Runs the body of a function of the CUDA runtime. Exceptions become error codes, and an error is
/// remembered for cudaGetLastError.
template <class Body>
cudaError_t stream_call(const char* function, Body body) {
  cudaError_t error = cudaErrorUnknown;
  try {
    error = body();
  } catch (...) {
    error = error_of_current_exception(function);
  }
  // cudaErrorNotReady is an answer to a query, so cudaGetLastError does not repeat it.
  return error == cudaSuccess || error == cudaErrorNotReady ? error : set_error(error);
}

/// The error of a call that is made in a host function, or after the context failed.
cudaError_t may_call(const char* function);

/// Runs the body after the checks of may_call(), with the state of all streams locked.
template <class Body>
cudaError_t locked_call(const char* function, Body body) {
  return stream_call(function, [&] {
    if (const cudaError_t error = may_call(function)) return error;
    const std::lock_guard lock(stream_state().mutex);
    return body(stream_state());
  });
}

/// The object of a handle, or nullptr after a finding that names the function.
Stream* find_stream(cudaStream_t handle, const char* function);
Event* find_event(cudaEvent_t handle, const char* function);

/// The task that runs the work; `before` is all that comes before it.
Task task_of(std::shared_ptr<const Work> work, const SharedClock& before);

/// Reports a feature that the emulator lacks and returns cudaErrorNotSupported.
cudaError_t not_implemented(const char* function, const char* feature);

}  // namespace halfgrad::emulator
