#include <halfgrad/emulator/runtime/streams/event.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace halfgrad::emulator {
namespace {

std::int64_t next_time() {
  constexpr std::int64_t kShortestInterval = 500;  // ns, the resolution that CUDA documents
  static std::atomic<std::int64_t> latest{0};
  const std::int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                               std::chrono::steady_clock::now().time_since_epoch())
                               .count();
  std::int64_t before = latest.load(), time = 0;
  do {
    time = std::max(now, before + kShortestInterval);
  } while (!latest.compare_exchange_weak(before, time));
  return time;
}

}  // namespace

Task record_task(std::shared_ptr<EventRecord> record) {
  Task task;
  task.run = [record = std::move(record)](OperationId) { record->nanoseconds = next_time(); };
  return task;
}

void record_event(StreamState& state, Stream& stream, Event& event) {
  state.begin_operation(stream);
  auto record = std::make_shared<EventRecord>();
  const Position position = state.add_operation(stream, record_task(record), "");
  record->complete_when = *stream.after;
  record->complete_when.reach(position);
  event.record = std::move(record);
  event.is_captured = false;
  event.capture.reset();
  event.capture_dependencies.clear();
  *event.polls = 0;
}

void wait_for_event(StreamState& state, Stream& stream, const Event& event) {
  if (event.record == nullptr) return;
  state.begin_operation(stream);
  stream.after = joined(stream.after, event.record->complete_when);
}

cudaError_t query(StreamState& state, const Clock& target, std::shared_ptr<unsigned> polls) {
  constexpr unsigned kMostPolls = 3;
  if (!state.scheduler.complete(target)) {
    if (!state.settings().lazy_streams) return cudaErrorNotReady;
    const std::unique_lock lock(state.mutex);
    if (++*polls <= kMostPolls) return cudaErrorNotReady;
    *polls = 0;
  }
  return state.try_wait(target) ? cudaSuccess : cudaErrorNotReady;
}

}  // namespace halfgrad::emulator
