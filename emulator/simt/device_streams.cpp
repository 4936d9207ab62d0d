// Streams and events of kernels (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism", "Streams
// and Events").
#include <utility>

#include <halfgrad/emulator/simt/device_calls.h>

namespace halfgrad::emulator {
namespace {

constexpr unsigned kNonBlocking = 1;    ///< the only flag that streams may have here
constexpr unsigned kWithoutTiming = 2;  ///< and events

/// Makes a stream or an event, whose flags must be `flags`.
template <unsigned Flags, DeviceHandles ChildLaunches::*Handles>
void create(LaneCall& call) {
  if (call.argument<std::uint32_t>(1) != Flags) return finish(call, kInvalidValue);
  ChildLaunches& children = children_of(call);
  std::uint64_t handle = 0;
  {
    const std::lock_guard lock(children.family.mutex);
    handle = children.family.next_handle++;
    (children.*Handles).emplace(handle, block_of(call));
  }
  call.store(call.argument(0), handle, sizeof handle);
  finish(call, kSuccess);
}

/// Work that was given to the stream still runs.
template <DeviceHandles ChildLaunches::*Handles>
void destroy(LaneCall& call) {
  ChildLaunches& children = children_of(call);
  bool known = false;
  {
    const std::lock_guard lock(children.family.mutex);
    known = (children.*Handles).erase(call.argument(0)) != 0;
  }
  finish(call, known ? kSuccess : kInvalidResourceHandle);
}

void use_event(LaneCall& call, DeviceWork::Kind kind, std::uint64_t event, std::uint64_t stream,
               bool per_thread) {
  ChildLaunches& children = children_of(call);
  DeviceWork work;
  work.kind = kind;
  work.event = event;
  int error = find_stream(call, stream, per_thread, work.stream);
  {
    const std::lock_guard lock(children.family.mutex);
    if (!children.uses(children.events, event, block_of(call))) error = kInvalidResourceHandle;
  }
  if (stream == DeviceStream::kTail || stream == DeviceStream::kFireAndForget) {
    error = kInvalidResourceHandle;
  }
  if (error == kSuccess) add_work(call, std::move(work));
  finish(call, error);
}

template <bool PerThread>
void record(LaneCall& call) {
  use_event(call, DeviceWork::Kind::record, call.argument(0), call.argument(1), PerThread);
}

template <bool PerThread>
void wait(LaneCall& call) {
  use_event(call, DeviceWork::Kind::wait, call.argument(1), call.argument(0), PerThread);
}

}  // namespace

int find_stream(LaneCall& call, std::uint64_t handle, bool per_thread, DeviceStream& stream) {
  ChildLaunches& children = children_of(call);
  stream.handle = handle;
  if (handle == DeviceStream::kTail || handle == DeviceStream::kFireAndForget) return kSuccess;
  if (handle == 0 || handle == DeviceStream::kPerThread) {
    stream.block = block_of(call);
    stream.thread = per_thread || handle == DeviceStream::kPerThread ? call.thread() + 1 : 0;
    return kSuccess;
  }
  const std::lock_guard lock(children.family.mutex);
  return children.uses(children.streams, handle, block_of(call)) ? kSuccess
                                                                 : kInvalidResourceHandle;
}

void create_stream(LaneCall& call) { create<kNonBlocking, &ChildLaunches::streams>(call); }
void destroy_stream(LaneCall& call) { destroy<&ChildLaunches::streams>(call); }
void create_event(LaneCall& call) { create<kWithoutTiming, &ChildLaunches::events>(call); }
void destroy_event(LaneCall& call) { destroy<&ChildLaunches::events>(call); }
void record_event(LaneCall& call) { record<false>(call); }
void record_event_per_thread(LaneCall& call) { record<true>(call); }
void wait_event(LaneCall& call) { wait<false>(call); }
void wait_event_per_thread(LaneCall& call) { wait<true>(call); }

}  // namespace halfgrad::emulator
