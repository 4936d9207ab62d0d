#include <halfgrad/emulator/runtime/streams/api.h>
#include <halfgrad/emulator/runtime/streams/capture.h>
#include <halfgrad/emulator/runtime/streams/event.h>

// Streams (CUDA Runtime API, "Stream Management").

namespace halfgrad::emulator {
namespace {

constexpr int kHighestPriority = -5;  // as on GPUs since compute capability 7.0

cudaError_t make_stream(const char* function, cudaStream_t* out, unsigned flags, int priority) {
  return locked_call(function, [&](StreamState& state) {
    if (out == nullptr || (flags & ~unsigned{cudaStreamNonBlocking}) != 0) {
      return cudaErrorInvalidValue;
    }
    const int clamped = priority < kHighestPriority ? kHighestPriority
                        : priority > 0              ? 0
                                                    : priority;
    Stream& made = state.make_stream(current_device(), flags, clamped, Stream::Kind::created);
    made.made_at = call_sites();
    *out = made.handle;
    return cudaSuccess;
  });
}

template <class Body>
cudaError_t with_stream(const char* function, cudaStream_t handle, Body body) {
  return locked_call(function, [&](StreamState&) {
    Stream* const stream = find_stream(handle, function);
    return stream == nullptr ? cudaErrorInvalidResourceHandle : body(*stream);
  });
}

cudaStreamAttrValue* attribute_of(Stream& stream, cudaStreamAttrID attribute) {
  switch (attribute) {
    case cudaLaunchAttributeAccessPolicyWindow:
      return &stream.access_policy;
    case cudaLaunchAttributeSynchronizationPolicy:
      return &stream.synchronization_policy;
    default:
      return nullptr;
  }
}

}  // namespace

cudaError_t not_implemented(const char* function, const char* feature) {
  report_call(FindingKind::unknown_function, function,
              std::string("the emulator does not implement ") + feature);
  return cudaErrorNotSupported;
}

HALFGRAD_EMULATOR_API cudaError_t cudaStreamCreate(cudaStream_t* out) {
  return make_stream("cudaStreamCreate", out, 0, 0);
}
HALFGRAD_EMULATOR_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* out, unsigned flags) {
  return make_stream("cudaStreamCreateWithFlags", out, flags, 0);
}
HALFGRAD_EMULATOR_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* out, unsigned flags,
                                                               int priority) {
  return make_stream("cudaStreamCreateWithPriority", out, flags, priority);
}

HALFGRAD_EMULATOR_API cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  if (lowest != nullptr) *lowest = 0;
  if (highest != nullptr) *highest = kHighestPriority;
  return cudaSuccess;
}

HALFGRAD_EMULATOR_API cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return stream_call("cudaStreamDestroy", [&] {
    StreamState& state = stream_state();
    const std::lock_guard lock(state.mutex);
    if (handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread) {
      report_call(FindingKind::invalid_call, "cudaStreamDestroy",
                  "a default stream cannot be destroyed");
      return cudaErrorInvalidResourceHandle;
    }
    Stream* const stream = find_stream(handle, "cudaStreamDestroy");
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    forget_stream(*stream);
    state.destroy_stream(handle);
    return sticky_error();
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  return with_stream("cudaStreamGetFlags", handle, [&](Stream& stream) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = stream.flags;
    return cudaSuccess;
  });
}
HALFGRAD_EMULATOR_API cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return with_stream("cudaStreamGetPriority", handle, [&](Stream& stream) {
    if (priority == nullptr) return cudaErrorInvalidValue;
    *priority = stream.priority;
    return cudaSuccess;
  });
}
HALFGRAD_EMULATOR_API cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  return with_stream("cudaStreamGetId", handle, [&](Stream& stream) {
    if (id == nullptr) return cudaErrorInvalidValue;
    *id = stream.id;
    return cudaSuccess;
  });
}
HALFGRAD_EMULATOR_API cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  return with_stream("cudaStreamGetDevice", handle, [&](Stream& stream) {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = stream.device;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaStreamGetAttribute(cudaStream_t handle, cudaStreamAttrID id,
                                                         cudaStreamAttrValue* value) {
  return with_stream("cudaStreamGetAttribute", handle, [&](Stream& stream) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (id == cudaLaunchAttributePriority) {
      value->priority = stream.priority;
      return cudaSuccess;
    }
    const cudaStreamAttrValue* const attribute = attribute_of(stream, id);
    if (attribute == nullptr) return cudaErrorInvalidValue;
    *value = *attribute;
    return cudaSuccess;
  });
}
HALFGRAD_EMULATOR_API cudaError_t cudaStreamSetAttribute(cudaStream_t handle, cudaStreamAttrID id,
                                                         const cudaStreamAttrValue* value) {
  return with_stream("cudaStreamSetAttribute", handle, [&](Stream& stream) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (id == cudaLaunchAttributePriority) {
      stream.priority = value->priority;
      return cudaSuccess;
    }
    cudaStreamAttrValue* const attribute = attribute_of(stream, id);
    if (attribute == nullptr) return cudaErrorInvalidValue;
    *attribute = *value;  // a hint about caches or waiting: results are the same without it
    return cudaSuccess;
  });
}
HALFGRAD_EMULATOR_API cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  constexpr const char* kFunction = "cudaStreamCopyAttributes";
  return locked_call(kFunction, [&](StreamState&) {
    Stream* const target = find_stream(to, kFunction);
    const Stream* const source = find_stream(from, kFunction);
    if (target == nullptr || source == nullptr) return cudaErrorInvalidResourceHandle;
    target->access_policy = source->access_policy;
    target->synchronization_policy = source->synchronization_policy;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return stream_call("cudaStreamSynchronize", [&] { return wait_for_stream(handle); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaStreamQuery(cudaStream_t handle) {
  constexpr const char* kFunction = "cudaStreamQuery";
  return stream_call(kFunction, [&] {
    if (const cudaError_t error = may_call(kFunction)) return error;
    StreamState& state = stream_state();
    Clock target;
    std::shared_ptr<unsigned> polls;
    {
      const std::lock_guard lock(state.mutex);
      Stream* const stream = find_stream(handle, kFunction);
      if (stream == nullptr) return cudaErrorInvalidResourceHandle;
      if (const cudaError_t error = may_wait(*stream, kFunction)) return error;
      target = state.given_to(*stream);
      polls = stream->polls;
    }
    const cudaError_t error = query(state, target, std::move(polls));
    return error == cudaSuccess ? sticky_error() : error;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event_handle,
                                                      unsigned flags) {
  constexpr const char* kFunction = "cudaStreamWaitEvent";
  return locked_call(kFunction, [&](StreamState& state) {
    Stream* const stream = find_stream(handle, kFunction);
    Event* const event = find_event(event_handle, kFunction);
    if (stream == nullptr || event == nullptr) return cudaErrorInvalidResourceHandle;
    if ((flags & ~unsigned{cudaEventWaitExternal}) != 0) return cudaErrorInvalidValue;
    const bool external = (flags & cudaEventWaitExternal) != 0;
    if (external && stream->capture == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = may_give_work(*stream, kFunction)) return error;
    if (external) {
      capture_node(*stream, cudaGraphNodeTypeWaitEvent).event = event_handle;
      return cudaSuccess;
    }
    if (event->is_captured) return wait_for_captured_event(*stream, *event);
    if (stream->capture != nullptr && event->record != nullptr) {
      invalidate(*stream->capture, std::string(kFunction) + ": " + stream->name() +
                                       " is being captured, but the event was recorded outside");
      return cudaErrorStreamCaptureIsolation;
    }
    if (stream->capture == nullptr) wait_for_event(state, *stream, *event);
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function,
                                                     void* data) {
  return stream_call("cudaLaunchHostFunc", [&] {
    if (function == nullptr) return cudaErrorInvalidValue;
    Work work;
    if (const cudaError_t error = host_work(function, data, work)) return error;
    return enqueue(handle, std::move(work));
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaStreamAddCallback(cudaStream_t handle,
                                                        cudaStreamCallback_t callback, void* data,
                                                        unsigned flags) {
  constexpr const char* kFunction = "cudaStreamAddCallback";
  return stream_call(kFunction, [&] {
    if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
    {
      const std::lock_guard lock(stream_state().mutex);
      const Stream* const stream = stream_state().find(handle);
      if (stream != nullptr && stream->capture != nullptr) {
        invalidate(*stream->capture, std::string(kFunction) +
                                         ": callbacks cannot be captured; use cudaLaunchHostFunc");
        return cudaErrorStreamCaptureUnsupported;
      }
    }
    Work work;
    work.kind = WorkKind::host_function;
    work.name = "stream callback";
    work.run = [=](OperationId) { callback(handle, sticky_error(), data); };
    return enqueue(handle, std::move(work));
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t handle, void* address,
                                                           std::size_t, unsigned flags) {
  return with_stream("cudaStreamAttachMemAsync", handle, [&](Stream& stream) {
    const bool known =
        flags == cudaMemAttachGlobal || flags == cudaMemAttachHost || flags == cudaMemAttachSingle;
    if (address == nullptr || !known) return cudaErrorInvalidValue;
    // Managed memory is visible everywhere at all times, so there is nothing to do but keep order.
    return may_give_work(stream, "cudaStreamAttachMemAsync");
  });
}

}  // namespace halfgrad::emulator
