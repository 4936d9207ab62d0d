#include <halfgrad/emulator/runtime/work.h>

#include <utility>

#include <halfgrad/emulator/runtime/process.h>
#include <halfgrad/emulator/runtime/streams/stream_state.h>

namespace halfgrad::emulator {

cudaError_t enqueue(cudaStream_t handle, Work work) {
  if (Scheduler::in_host_function()) return cudaErrorNotPermitted;
  if (const cudaError_t error = sticky_error()) return error;
  StreamState& state = stream_state();
  {
    const std::lock_guard lock(state.mutex);
    Stream* const stream = state.find(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    state.begin_operation(*stream);
    Task task;
    task.run = std::move(work.run);
    task.is_host_function = work.kind == WorkKind::host_function;
    state.add_operation(*stream, std::move(task), work.name);
  }
  state.scheduler.run_eagerly();
  return cudaSuccess;
}

cudaError_t wait_for_stream(cudaStream_t handle) {
  if (Scheduler::in_host_function()) return cudaErrorNotPermitted;
  StreamState& state = stream_state();
  Clock target;
  {
    const std::lock_guard lock(state.mutex);
    Stream* const stream = state.find(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    target = state.given_to(*stream);
  }
  state.wait(target);
  return sticky_error();
}

cudaError_t wait_for_device(int device) {
  if (Scheduler::in_host_function()) return cudaErrorNotPermitted;
  StreamState& state = stream_state();
  Clock target;
  {
    const std::lock_guard lock(state.mutex);
    target = state.given_to_device(device);
  }
  state.wait(target);
  return sticky_error();
}

cudaError_t refuse_in_capture(const char*) { return cudaSuccess; }

OperationId host_operation() {
  StreamState& state = stream_state();
  const std::lock_guard lock(state.mutex);
  return state.host_operation();
}

const OperationOrder& operation_order() { return stream_state().log; }

}  // namespace halfgrad::emulator
