#include <halfgrad/emulator/runtime/streams/stream_state.h>

#include <utility>

#include <halfgrad/emulator/checks/host_watch.h>
#include <halfgrad/emulator/runtime/process.h>

namespace halfgrad::emulator {
namespace {

std::unique_ptr<StreamState>& state_pointer() {
  // Never destroyed: host threads and destructors of static objects may call the runtime at exit.
  static auto& state = *new std::unique_ptr<StreamState>(new StreamState(settings()));
  return state;
}

}  // namespace

StreamState& stream_state() { return *state_pointer(); }
void reset_stream_state(const Settings& settings) {
  state_pointer() = std::make_unique<StreamState>(settings);
}

StreamState::StreamState(const Settings& settings)
    : scheduler({.lazy = settings.lazy_streams,
                 .seed = settings.seed,
                 .patience = std::chrono::milliseconds(settings.collective_patience)}),
      settings_(settings),
      host_(std::make_shared<const Clock>()) {
  host_chain_ = scheduler.make_chain();
  scheduler.close_chain(host_chain_);  // the host's operations are complete when they are numbered
}

Stream& StreamState::make_stream(int device, unsigned flags, int priority, Stream::Kind kind) {
  auto made = std::make_unique<Stream>();
  Stream& stream = *made;
  stream.id = next_stream_++;
  stream.device = device;
  stream.flags = flags;
  stream.priority = priority;
  stream.kind = kind;
  stream.chain = scheduler.make_chain();
  stream.after = host_;
  stream.handle = streams.add(std::move(made));
  return stream;
}

Stream& StreamState::legacy_stream(int device) {
  Stream*& stream = legacy_[device];
  if (stream == nullptr) stream = &make_stream(device, 0, 0, Stream::Kind::legacy);
  return *stream;
}

Stream& StreamState::per_thread_stream(int device) {
  Stream*& stream = per_thread_[{std::this_thread::get_id(), device}];
  if (stream == nullptr) stream = &make_stream(device, 0, 0, Stream::Kind::per_thread);
  return *stream;
}

Stream* StreamState::find(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) return &legacy_stream(current_device());
  if (handle == cudaStreamPerThread) return &per_thread_stream(current_device());
  return streams.find(handle);
}

void StreamState::destroy_stream(cudaStream_t handle) {
  const std::unique_ptr<Stream> stream = streams.take(handle);
  const Clock given = given_to(*stream);
  destroyed_[stream->device].join(given);
  if (stream->blocks_with_legacy()) {
    Stream& legacy = legacy_stream(stream->device);
    legacy.after = joined(legacy.after, given);
  }
  scheduler.close_chain(stream->chain);
  for (const ChainId branch : stream->branches) scheduler.close_chain(branch);
}

void StreamState::begin_operation(Stream& stream) {
  stream.after = joined(stream.after, *host_);
  if (stream.kind == Stream::Kind::legacy) {
    streams.each([&](const Stream& other) {
      if (other.device != stream.device || !other.blocks_with_legacy()) return;
      stream.after = reached(joined(stream.after, *other.after), other.last);
    });
  } else if (stream.blocks_with_legacy()) {
    const auto found = legacy_.find(stream.device);
    if (found == legacy_.end()) return;
    stream.after = reached(joined(stream.after, *found->second->after), found->second->last);
  }
}

Position StreamState::add_operation(Stream& stream, Task task, const std::string& description) {
  task.before = joined(stream.after, task.before == nullptr ? Clock{} : *task.before);
  *stream.polls = 0;
  const std::string text = description.empty() ? "" : description + " on " + stream.name();
  return stream.last = add_operation(stream.chain, std::move(task), text);
}

Position StreamState::add_operation(ChainId chain, Task task, const std::string& description) {
  if (log.is_long()) forget_old_operations();
  if (task.operation == 0) task.operation = log.next();
  const OperationId operation = task.operation;
  const SharedClock before = task.before;
  // The log comes first: a thread may run the task as soon as the scheduler has it.
  if (!description.empty()) {
    log.add(operation, scheduler.next_position(chain), before, description, task.overlapped);
  }
  const Position position = scheduler.add(chain, std::move(task));
  current_host_operation_ = 0;
  return position;
}

void StreamState::begin_copy_between(Stream& stream, std::pair<int, int> devices) {
  for (const int device : {devices.first, devices.second}) {
    stream.after = joined(stream.after, given_to_device(device));
  }
}

void StreamState::end_copy_between(const Stream& stream, std::pair<int, int> devices) {
  for (const int device : {devices.first, devices.second}) legacy_stream(device);
  streams.each([&](Stream& other) {
    if (other.device != devices.first && other.device != devices.second) return;
    if (&other != &stream) other.after = reached(other.after, stream.last);
  });
}

Clock StreamState::given_to(Stream& stream) {
  begin_operation(stream);
  Clock result = *stream.after;
  result.reach(stream.last);
  return result;
}

Clock StreamState::given_to_device(int device) {
  Clock result = destroyed_[device];
  streams.each([&](Stream& stream) {
    if (stream.device == device) result.join(given_to(stream));
  });
  return result;
}

void StreamState::order_host(const Clock& after) {
  end_host_watch();
  host_reads.check();
  host_reads.forget(after);
  host_ = joined(host_, after);
  current_host_operation_ = 0;
}

void StreamState::run_eagerly() {
  scheduler.run_eagerly();
  const std::lock_guard lock(mutex);
  host_reads.accept();
  watch_host();
}

void StreamState::wait(const Clock& target) {
  scheduler.run_until(target);
  const std::lock_guard lock(mutex);
  order_host(target);
  watch_host();
}

void StreamState::watch_host() {
  if (settings_.lazy_streams || !settings_.check_race) return;
  if (Scheduler::running_operation() != 0) return;
  watch_host_memory(log, [this] { return host_operation(); });
}

OperationId StreamState::host_operation() {
  if (const OperationId running = Scheduler::running_operation()) return running;
  if (current_host_operation_ == 0) {
    current_host_operation_ = log.next();
    const Position position{host_chain_, ++host_operations_};
    log.add(current_host_operation_, position, host_, "the host");
    host_ = reached(host_, position);
  }
  return current_host_operation_;
}

bool StreamState::try_wait(const Clock& target) {
  if (!scheduler.try_run(target)) return false;
  const std::lock_guard lock(mutex);
  order_host(target);
  watch_host();
  return true;
}

/// Every later operation comes after host_, and so does every pending one that was given since
/// host_ was as it is now. The clock is kept until all older operations have run.
void StreamState::forget_old_operations() {
  const OperationId oldest = scheduler.oldest_pending();
  if (oldest == 0) {
    forgettable_ = *host_;
  } else if (forgettable_since_ == 0 || oldest <= forgettable_since_) {
    if (forgettable_since_ == 0) {
      forgettable_ = *host_;
      forgettable_since_ = log.next();
    }
    return;
  }
  log.forget(forgettable_);
  // Positions of forgotten operations need no place in clocks: the log takes them for ordered.
  const auto prune = [&](SharedClock& clock) {
    Clock kept = *clock;
    kept.drop_covered(forgettable_);
    clock = std::make_shared<const Clock>(std::move(kept));
  };
  streams.each([&](Stream& stream) { prune(stream.after); });
  for (auto& [device, clock] : destroyed_) clock.drop_covered(forgettable_);
  Clock host = *host_;
  host.drop_covered(forgettable_);
  host_ = std::make_shared<const Clock>(std::move(host));
  forgettable_since_ = 0;
}

}  // namespace halfgrad::emulator
