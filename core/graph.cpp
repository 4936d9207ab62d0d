#include <halfgrad/core/graph.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <utility>

#include <halfgrad/core/cuda/runtime/runtime.h>
#include <halfgrad/core/deferred.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/graph_replay.h>
#include <halfgrad/core/late_work.h>
#include <halfgrad/core/launches.h>

namespace halfgrad {

namespace runtime = detail::runtime;

namespace {

thread_local constinit Graph* current = nullptr;  // the graph that this thread captures
std::atomic<std::uint64_t> replay_count = 0;

std::mutex preparations_mutex;
std::vector<std::function<void()>>& preparations() {
  static std::vector<std::function<void()>> all;
  return all;
}

void prepare_capture() {
  std::vector<std::function<void()>> all;
  {
    const std::lock_guard lock(preparations_mutex);
    all = preparations();
  }
  for (const auto& prepare : all) prepare();
}

}  // namespace

Graph::Capture::Capture(Graph& graph, const Stream& on)
    : outer(std::exchange(current, &graph)),
      stream(on),
      scope(on),
      pool(graph.pool_),
      random(graph.random_) {}

Graph::Capture::~Capture() { current = outer; }

Graph::Graph(Device device)
    : device_(device),
      home_(current_stream(device)),
      replayed_on_(home_),
      pool_(device),
      random_(device) {}

Graph::~Graph() {
  try {
    if (capturing_) capture_end();
    if (native_ == nullptr) return;
    runtime::destroy_graph(native_);
    home_.wait_stream(replayed_on_);
  } catch (const std::runtime_error&) {
    // The GPU is lost, so its memory is too.
  }
}

void Graph::capture(const std::function<void()>& function) {
  if (function_ || native_ != nullptr) {
    detail::fail<std::logic_error>("capture", "expected a graph that has captured nothing yet");
  }
  if (device_.is_cpu()) {
    function_ = function;
    return;
  }
  capture_begin();
  try {
    function();
  } catch (...) {
    try {
      capture_end();
      runtime::destroy_graph(std::exchange(native_, nullptr));
    } catch (const std::runtime_error&) {
      // The exception of the function explains why the capture broke.
    }
    forget_captured();
    throw;
  }
  capture_end();
}

void Graph::capture_begin() {
  if (device_.is_cpu()) {
    detail::fail("capture_begin", "expected a graph on a GPU, got one on the CPU");
  }
  if (capturing_ || native_ != nullptr) {
    detail::fail<std::logic_error>("capture_begin",
                                   "expected a graph that has captured nothing yet");
  }
  detail::settle_deferred();
  if (current == nullptr) prepare_capture();
  detail::join_late_work(current_stream(device_));  // the graph cannot wait for work outside of it
  if (current == nullptr) allocator::empty_cache(device_);  // may wait, which a capture forbids
  if (!captured_on_) captured_on_.emplace(device_);
  if (!side_) side_.emplace(device_);
  const Stream& stream = captured_on_->get();
  runtime::begin_capture(device_.index(), stream.native());
  capturing_.emplace(*this, stream);
  launches_ = -detail::launches;
}

void Graph::capture_end() {
  if (!capturing_) {
    detail::fail<std::logic_error>("capture_end", "expected capture_begin before it");
  }
  detail::settle_deferred();
  const Stream stream = capturing_->stream;
  launches_ += detail::launches;
  try {
    detail::join_late_work(stream);
  } catch (const std::runtime_error&) {
    // The capture is broken, and its end tells why.
  }
  capturing_.reset();
  try {
    native_ = runtime::end_capture(device_.index(), stream.native());
  } catch (...) {
    forget_captured();
    throw;
  }
}

void Graph::forget_captured() {
  random_ = detail::CapturedRandom(device_);
  sends_.clear();
}

void Graph::before_replay(std::function<void()> send) {
  if (current == nullptr) return send();
  current->sends_.push_back(std::move(send));
}

bool Graph::is_capturing() { return current != nullptr; }

const Stream* Graph::side_stream() { return current != nullptr ? &current->side_->get() : nullptr; }

std::uint64_t Graph::replays() { return replay_count.load(std::memory_order_relaxed); }

void Graph::before_captures(std::function<void()> prepare) {
  prepare();
  const std::lock_guard lock(preparations_mutex);
  preparations().push_back(std::move(prepare));
}

void Graph::replay() {
  if (function_) {
    function_();
    return;
  }
  if (native_ == nullptr) {
    detail::fail<std::logic_error>("replay", "expected capture before it");
  }
  detail::settle_deferred();  // before the replay overwrites an operand
  ++replay_count;
  const detail::GraphReplay told{device_, launches_};
  const detail::ReplayHook tell = detail::replay_hook.load(std::memory_order_relaxed);
  if (tell != nullptr) tell(told, /*is_queued=*/false);
  const Stream stream = current_stream(device_);
  detail::join_late_work(stream);
  stream.wait_stream(replayed_on_);  // it may still read values that this replay overwrites
  replayed_on_ = stream;
  random_.prepare_replay();
  for (const auto& send : sends_) send();
  runtime::launch_graph(device_.index(), native_, replayed_on_.native());
  if (tell != nullptr) tell(told, /*is_queued=*/true);
}

}  // namespace halfgrad
