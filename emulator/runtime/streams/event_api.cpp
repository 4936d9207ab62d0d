#include <halfgrad/emulator/runtime/streams/api.h>
#include <halfgrad/emulator/runtime/streams/capture.h>
#include <halfgrad/emulator/runtime/streams/event.h>

// Events (CUDA Runtime API, "Event Management").

namespace halfgrad::emulator {
namespace {

constexpr unsigned kKnownFlags =
    cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;

cudaError_t make_event(const char* function, cudaEvent_t* out, unsigned flags) {
  return locked_call(function, [&](StreamState& state) {
    if (out == nullptr || (flags & ~kKnownFlags) != 0) return cudaErrorInvalidValue;
    if ((flags & cudaEventInterprocess) != 0) {
      return (flags & cudaEventDisableTiming) == 0
                 ? cudaErrorInvalidValue
                 : not_implemented(function, "events that several processes share");
    }
    auto event = std::make_unique<Event>();
    Event& made = *event;
    made.device = current_device();
    made.flags = flags;
    made.made_at = call_sites();
    made.handle = *out = state.events.add(std::move(event));
    return cudaSuccess;
  });
}

cudaError_t record(const char* function, cudaEvent_t event_handle, cudaStream_t handle,
                   unsigned flags) {
  const cudaError_t error = locked_call(function, [&](StreamState& state) {
    Stream* const stream = find_stream(handle, function);
    Event* const event = find_event(event_handle, function);
    if (stream == nullptr || event == nullptr) return cudaErrorInvalidResourceHandle;
    if ((flags & ~unsigned{cudaEventRecordExternal}) != 0) return cudaErrorInvalidValue;
    if (stream->device != event->device) {
      report_call(FindingKind::invalid_call, function,
                  "the event belongs to device " + std::to_string(event->device) + ", " +
                      stream->name() + " to device " + std::to_string(stream->device),
                  Severity::note);
      return cudaErrorInvalidResourceHandle;
    }
    if (const cudaError_t refused = may_give_work(*stream, function)) return refused;
    const bool external = (flags & cudaEventRecordExternal) != 0;
    if (stream->capture == nullptr) {
      if (external) return cudaErrorInvalidValue;
      record_event(state, *stream, *event);
    } else if (external) {
      capture_node(*stream, cudaGraphNodeTypeEventRecord).event = event_handle;
    } else {
      event->is_captured = true;
      event->capture = stream->capture;
      event->capture_dependencies = stream->capture_dependencies;
      event->record = nullptr;
    }
    return cudaSuccess;
  });
  if (error == cudaSuccess) stream_state().run_eagerly();
  return error;
}

/// The record that the host may wait for or ask about; nullptr if there is none.
cudaError_t observable_record(const char* function, cudaEvent_t handle,
                              std::shared_ptr<EventRecord>& record) {
  const Event* const event = find_event(handle, function);
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  if (event->is_captured) {
    if (const auto capture = event->capture.lock()) {
      invalidate(*capture, std::string(function) + ": the event was recorded in a capture");
    }
    return cudaErrorCapturedEvent;
  }
  record = event->record;
  return refuse_unsafe_call(function);
}

}  // namespace

HALFGRAD_EMULATOR_API cudaError_t cudaEventCreate(cudaEvent_t* out) {
  return make_event("cudaEventCreate", out, 0);
}
HALFGRAD_EMULATOR_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned flags) {
  return make_event("cudaEventCreateWithFlags", out, flags);
}

HALFGRAD_EMULATOR_API cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  return stream_call("cudaEventDestroy", [&] {
    StreamState& state = stream_state();
    const std::lock_guard lock(state.mutex);
    if (find_event(handle, "cudaEventDestroy") == nullptr) return cudaErrorInvalidResourceHandle;
    state.events.take(handle);
    return sticky_error();
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return record("cudaEventRecord", event, stream, cudaEventRecordDefault);
}
HALFGRAD_EMULATOR_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                                           unsigned flags) {
  return record("cudaEventRecordWithFlags", event, stream, flags);
}

HALFGRAD_EMULATOR_API cudaError_t cudaEventQuery(cudaEvent_t handle) {
  constexpr const char* kFunction = "cudaEventQuery";
  return stream_call(kFunction, [&] {
    if (const cudaError_t error = may_call(kFunction)) return error;
    StreamState& state = stream_state();
    std::shared_ptr<EventRecord> record;
    std::shared_ptr<unsigned> polls;
    {
      const std::lock_guard lock(state.mutex);
      if (const cudaError_t error = observable_record(kFunction, handle, record)) return error;
      polls = state.events.find(handle)->polls;
    }
    if (record == nullptr) return cudaSuccess;
    const cudaError_t error = query(state, record->complete_when, std::move(polls));
    return error == cudaSuccess ? sticky_error() : error;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  constexpr const char* kFunction = "cudaEventSynchronize";
  return stream_call(kFunction, [&] {
    if (const cudaError_t error = may_call(kFunction)) return error;
    StreamState& state = stream_state();
    std::shared_ptr<EventRecord> record;
    {
      const std::lock_guard lock(state.mutex);
      if (const cudaError_t error = observable_record(kFunction, handle, record)) return error;
    }
    if (record != nullptr) state.wait(record->complete_when);
    return sticky_error();
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t first,
                                                       cudaEvent_t second) {
  constexpr const char* kFunction = "cudaEventElapsedTime";
  return locked_call(kFunction, [&](StreamState&) {
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    const Event* const start = find_event(first, kFunction);
    const Event* const end = find_event(second, kFunction);
    if (start == nullptr || end == nullptr) return cudaErrorInvalidResourceHandle;
    if (start->is_captured || end->is_captured) return cudaErrorCapturedEvent;
    if (((start->flags | end->flags) & cudaEventDisableTiming) != 0) {
      report_call(FindingKind::invalid_call, kFunction,
                  "an event was made with cudaEventDisableTiming", Severity::note);
      return cudaErrorInvalidResourceHandle;
    }
    if (start->record == nullptr || end->record == nullptr || start->device != end->device) {
      report_call(FindingKind::invalid_call, kFunction,
                  start->device != end->device ? "the events belong to different devices"
                                               : "an event was never recorded",
                  Severity::note);
      return cudaErrorInvalidResourceHandle;
    }
    const std::int64_t from = start->record->nanoseconds, to = end->record->nanoseconds;
    if (from == 0 || to == 0) return cudaErrorNotReady;
    *milliseconds = static_cast<float>(static_cast<double>(to - from) * 1e-6);
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) {
  return stream_call("cudaIpcGetEventHandle", [] {
    return not_implemented("cudaIpcGetEventHandle", "events that several processes share");
  });
}
HALFGRAD_EMULATOR_API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) {
  return stream_call("cudaIpcOpenEventHandle", [] {
    return not_implemented("cudaIpcOpenEventHandle", "events that several processes share");
  });
}

}  // namespace halfgrad::emulator
