#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include <halfgrad/amp/inspector/named_model.h>
#include <halfgrad/amp/inspector/timed_ops.h>
#include <halfgrad/amp/step_report.h>
#include <halfgrad/optim/optimizer.h>
#include <halfgrad/report/trace/trace_events.h>

namespace halfgrad::report {

struct TraceOptions {
  /// Calls of ops that are recorded in each group: a file of 10000 calls has 4 MB. Counters, steps
  /// and decisions of the scaler are recorded to the end.
  std::int64_t max_calls = 10000;
  /// Time between two writes of the file by end_step(), so that a run that is killed leaves one.
  std::chrono::milliseconds write_every = std::chrono::seconds(10);
};

/// Records a run as a timeline for https://ui.perfetto.dev, in Chrome's trace event format:
///
///   report::TraceWriter trace("trace.json", amp::NamedModel(model));
///   const OpObserverGuard guard(trace);
///   const auto watch = trace.watch(optimizer);
///   for (...) {
///     ...                                   // forward, backward, step
///     trace.counter("loss", loss.item());
///     trace.end_step();
///   }
///   trace.write();
///
/// Tracks: "forward" (ops in the slices of their modules), "backward", with an arrow from each op
/// to its gradient, "optimizer" and "scaler"; counters for memory and what counter() gets. Ops on a
/// GPU have the times of its kernels. Consecutive calls of one module are drawn as one slice.
class TraceWriter : public amp::TimedOps {
 public:
  /// Writes a trace without events at once, so that a file that cannot be written is noticed before
  /// a training: throws files::WriteError.
  explicit TraceWriter(std::filesystem::path file, amp::NamedModel model = {},
                       const TraceOptions& options = {});
  /// Writes the file if there are new events. An error is printed as a warning.
  ~TraceWriter() override;
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  /// Begins a group of tracks, such as a training in another precision, and names its modules.
  void begin_group(std::string_view name, amp::NamedModel model);
  /// A point of a curve, now.
  void counter(const std::string& name, double value);
  /// An event without a length, now.
  void instant(const std::string& track, std::string_view name,
               const TraceEvents::Arguments& arguments = {});
  /// A slice on `track`, such as a collective of several ranks. Any thread may call it. Slices of
  /// one track nest, and come in the order of time.
  void slice(const std::string& track, std::string_view name,
             std::chrono::steady_clock::time_point start, std::chrono::steady_clock::time_point end,
             const TraceEvents::Arguments& arguments = {});
  /// A decision of the scaler as an instant event, "skip", "growth" or "back-off", and the scale as
  /// a counter.
  void add(const amp::StepReport& report);
  /// Does the same for a scaler without a history: takes the scale before and after
  /// GradScaler::update().
  void scaler_update(double scale, double next_scale, bool skipped);
  /// Draws a slice on the track "optimizer" for each later step() of `optimizer`, while the result
  /// lives. A step on another thread, such as an AsyncOptimizer's, gets a track of its own. The
  /// slice is the host's time: on a GPU it ends when the kernels are queued.
  [[nodiscard]] std::shared_ptr<void> watch(optim::Optimizer& optimizer);
  /// Ends the slices of modules, and writes the file if the last time was long ago.
  void end_step();

  /// Replaces the file atomically by the trace so far; waits for the ops that it times. Throws
  /// files::WriteError; the old file then remains.
  void write();
  const std::filesystem::path& file() const { return file_; }

 protected:
  void timed(std::span<const amp::TimedCall> calls) override;

 private:
  void decision(double scale, double next_scale, bool skipped,
                const TraceEvents::Arguments& arguments);
  void open_modules(const std::string& path, double at);
  void close_modules(std::size_t kept);
  std::string optimizer_track() const;

  const std::filesystem::path file_;
  const TraceOptions options_;
  const double zero_;  // the steady clock's seconds at the time 0 of the trace
  const std::thread::id thread_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point written_{};
  std::size_t written_size_ = 0;  // bytes of the events in the file

  std::mutex mutex_;  // guards what follows: an optimizer may step on another thread
  TraceEvents events_;
  std::int64_t calls_ = 0;              // recorded in this group
  bool is_full_ = false;                // calls_ has reached the limit
  std::vector<std::string> modules_;    // open slices of the track "forward": parts of a path
  double forward_end_ = 0;              // end of the last call on that track
  std::deque<std::int64_t> step_ends_;  // ids of the first calls after each step
  std::int64_t live_bytes_ = -1;        // last value of the counter
  std::unordered_map<std::int64_t, double> starts_;  // times of forward calls in this group
};

}  // namespace halfgrad::report
