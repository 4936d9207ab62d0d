#include <halfgrad/emulator/runtime/work.h>

#include <string_view>
#include <utility>

#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/error_state.h>
#include <halfgrad/emulator/runtime/launches.h>
#include <halfgrad/emulator/runtime/streams/api.h>
#include <halfgrad/emulator/runtime/streams/capture.h>

namespace halfgrad::emulator {
namespace {

cudaGraphNodeType captured_type(const Work& work) {
  if (work.kind != WorkKind::allocation) return node_type(work.kind);
  const bool frees = work.name.find("Free") != std::string::npos;
  return frees ? cudaGraphNodeTypeMemFree : cudaGraphNodeTypeMemAlloc;
}

/// Kinds of work for the report's list of calls; nullptr for others. Kernels add themselves.
const char* logged_kind(WorkKind kind) {
  switch (kind) {
    case WorkKind::copy:
      return "copy";
    case WorkKind::memset:
      return "memset";
    case WorkKind::library:
      return "library";
    default:
      return nullptr;
  }
}

/// Runs the work, except on a device that an aborted kernel made unusable: only callbacks run
/// there.
void run(const Work& work, OperationId operation, Meeting* meeting) {
  if (!work.run && meeting == nullptr) return;
  if (work.kind != WorkKind::host_function && device_is_lost(work.device)) return;
  try {
    meeting != nullptr ? meeting->run(operation) : work.run(operation);
    if (const char* kind = logged_kind(work.kind)) {
      launch_log().add(CallRecord{kind, work.name, work.detail, work.cost});
    }
  } catch (const KernelAborted& aborted) {
    set_sticky_error(error_after(aborted.kind), work.device);
  } catch (...) {
    set_sticky_error(error_of_current_exception(work.name.c_str()), work.device);
  }
}

/// A host function runs in a thread of its own, and what it tells other host threads comes after
/// the work before it: the host counts as having waited for that work.
std::function<void(OperationId)> tell_host(SharedClock before,
                                           std::function<void(OperationId)> run) {
  return [before = before, run = std::move(run)](OperationId operation) {
    StreamState& state = stream_state();
    {
      const std::lock_guard lock(state.mutex);
      state.order_host(*before);
    }
    run(operation);
  };
}

}  // namespace

Task task_of(std::shared_ptr<const Work> work, const SharedClock& before) {
  Task task;
  task.is_host_function = work->kind == WorkKind::host_function;
  if (work->meet) task.meeting = work->meet();
  task.run = [work = std::move(work), meeting = task.meeting](OperationId operation) {
    run(*work, operation, meeting.get());
  };
  if (task.is_host_function) task.run = tell_host(before, std::move(task.run));
  return task;
}

namespace {

bool is_newest(Position position, const Stream& stream) {
  return position.index != 0 && position.chain == stream.last.chain &&
         position.index == stream.last.index;
}

void add_work(StreamState& state, Stream& stream, Work work) {
  const bool is_kernel = work.kind == WorkKind::kernel;
  const bool overlaps = work.programmatic && is_newest(stream.last_kernel, stream);
  const std::string name = work.name;
  SharedClock before = reached(stream.after, stream.last);
  Task task = task_of(std::make_shared<const Work>(std::move(work)), before);
  task.operation = state.log.next();
  task.overlapped = overlaps ? stream.last_launch : 0;
  const OperationId operation = task.operation;
  const Position position = state.add_operation(stream, std::move(task), name);
  if (!is_kernel) return;
  stream.last_kernel = position;
  stream.last_launch = operation;
}

}  // namespace

cudaError_t enqueue(cudaStream_t handle, Work work) {
  if (const cudaError_t error = may_call(work.name.c_str())) return error;
  StreamState& state = stream_state();
  {
    const std::lock_guard lock(state.mutex);
    Stream* const stream = find_stream(handle, work.name.c_str());
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    const bool runs_on_multiprocessors = work.kind == WorkKind::kernel || work.meet;
    if (runs_on_multiprocessors && work.device != stream->device) {
      report_call(FindingKind::invalid_call, work.name.c_str(),
                  "the current device is " + std::to_string(work.device) + ", " + stream->name() +
                      " belongs to device " + std::to_string(stream->device),
                  Severity::note);
      return cudaErrorInvalidResourceHandle;
    }
    if (const cudaError_t error = may_give_work(*stream, work.name.c_str())) return error;
    state.host_reads.check();
    if (stream->capture != nullptr) {
      GraphNode& node = capture_node(*stream, captured_type(work));
      node.work = std::make_shared<const Work>(std::move(work));
      return cudaSuccess;
    }
    state.begin_operation(*stream);
    const auto between =
        stream->kind == Stream::Kind::legacy ? work.between : std::optional<std::pair<int, int>>();
    if (between) state.begin_copy_between(*stream, *between);
    add_work(state, *stream, std::move(work));
    if (between) state.end_copy_between(*stream, *between);
  }
  state.run_eagerly();
  return cudaSuccess;
}

void note_host_read(cudaStream_t handle, const void* begin, std::size_t bytes,
                    const std::string& text) {
  StreamState& state = stream_state();
  const std::lock_guard lock(state.mutex);
  const Stream* const stream = state.find(handle);
  if (stream == nullptr || state.settings().lazy_streams || !state.settings().check_race) return;
  state.host_reads.add(stream->last, begin, bytes, text);
}

cudaError_t wait_for_stream(cudaStream_t handle) {
  constexpr const char* kFunction = "a wait for a stream";
  if (const cudaError_t error = may_call(kFunction)) return error;
  StreamState& state = stream_state();
  Clock target;
  {
    const std::lock_guard lock(state.mutex);
    Stream* const stream = find_stream(handle, kFunction);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = may_wait(*stream, kFunction)) return error;
    target = state.given_to(*stream);
  }
  state.wait(target);
  return sticky_error();
}

cudaError_t wait_for_device(int device) {
  if (const cudaError_t error = may_call("a wait for the device")) return error;
  StreamState& state = stream_state();
  Clock target;
  {
    const std::lock_guard lock(state.mutex);
    target = state.given_to_device(device);
  }
  state.wait(target);
  return sticky_error();
}

void finish_all_work() { stream_state().scheduler.run_all(); }

void run_released_work() { stream_state().scheduler.run_released(); }

void expect_no_more_work() { stream_state().scheduler.expect_no_more(); }

OperationId host_operation() {
  StreamState& state = stream_state();
  const std::lock_guard lock(state.mutex);
  return state.host_operation();
}

const OperationOrder& operation_order() { return stream_state().log; }

cudaError_t may_call(const char* function) {
  if (Scheduler::in_host_function()) {
    report_call(FindingKind::invalid_call, function,
                "a host function or stream callback may not call the CUDA runtime");
    return cudaErrorNotPermitted;
  }
  return sticky_error();
}

Stream* find_stream(cudaStream_t handle, const char* function) {
  StreamState& state = stream_state();
  Stream* const stream = state.find(handle);
  if (stream == nullptr) {
    report_call(FindingKind::invalid_call, function,
                state.streams.was_destroyed(handle) ? "the stream was destroyed"
                                                    : "the handle is not a stream's");
  }
  return stream;
}

Event* find_event(cudaEvent_t handle, const char* function) {
  StreamState& state = stream_state();
  Event* const event = state.events.find(handle);
  if (event == nullptr) {
    report_call(FindingKind::invalid_call, function,
                state.events.was_destroyed(handle) ? "the event was destroyed"
                                                   : "the handle is not an event's");
  }
  return event;
}

}  // namespace halfgrad::emulator
