#include <halfgrad/report/trace/trace_writer.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <limits>
#include <memory>
#include <sstream>
#include <utility>

#include <halfgrad/core/allocator.h>
#include <halfgrad/core/warning.h>
#include <halfgrad/files/replace_file.h>

namespace halfgrad::report {
namespace {

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  std::istringstream text(path);
  for (std::string part; std::getline(text, part, '.');) parts.push_back(part);
  return parts;
}

TraceEvents::Arguments arguments_of(const amp::TimedCall& call) {
  TraceEvents::Arguments arguments{{"dtype", std::string(name(call.dtype))}};
  if (!call.module.empty()) arguments.emplace_back("module", call.module);
  if (call.result_bytes > 0) {
    arguments.emplace_back("result", allocator::text_of_bytes(call.result_bytes));
  }
  return arguments;
}

double seconds_of(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

// Returns the steady clock's seconds at the time 0 of ops.now(). The clocks are read one after the
// other, and the thread may be interrupted between, so the closest of several readings counts.
double zero_of(const amp::TimedOps& ops) {
  constexpr int kReadings = 10;
  double zero = 0, closest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kReadings; ++i) {
    const double before = seconds_of(std::chrono::steady_clock::now());
    const double at = ops.now();
    const double between = seconds_of(std::chrono::steady_clock::now()) - before;
    if (between >= closest) continue;
    closest = between;
    zero = before + between / 2 - at;
  }
  return zero;
}

std::string text_of(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

}  // namespace

TraceWriter::TraceWriter(std::filesystem::path file, amp::NamedModel model,
                         const TraceOptions& options)
    : TimedOps(std::move(model)), file_(std::move(file)), options_(options), zero_(zero_of(*this)) {
  write();
}

TraceWriter::~TraceWriter() {
  try {
    finish();
    close_modules(0);
    if (events_.size() != written_size_) write();
  } catch (const std::exception& error) {
    detail::warn(std::string("TraceWriter: ") + error.what());
  }
}

void TraceWriter::begin_group(std::string_view name, amp::NamedModel model) {
  finish();
  const std::lock_guard lock(mutex_);
  close_modules(0);
  events_.add_process(name);
  calls_ = 0;
  is_full_ = false;
  live_bytes_ = -1;
  starts_.clear();
  set_model(std::move(model));
}

void TraceWriter::counter(const std::string& name, double value) {
  const std::lock_guard lock(mutex_);
  events_.counter(name, now(), value);
}

void TraceWriter::instant(const std::string& track, std::string_view name,
                          const TraceEvents::Arguments& arguments) {
  const std::lock_guard lock(mutex_);
  events_.instant(events_.track(track), name, now(), arguments);
}

void TraceWriter::slice(const std::string& track, std::string_view name,
                        std::chrono::steady_clock::time_point start,
                        std::chrono::steady_clock::time_point end,
                        const TraceEvents::Arguments& arguments) {
  const std::lock_guard lock(mutex_);
  const TraceEvents::Track place = events_.track(track);
  events_.begin(place, name, seconds_of(start) - zero_, arguments);
  events_.end(place, seconds_of(end) - zero_);
}

void TraceWriter::add(const amp::StepReport& report) {
  decision(report.scale, report.next_scale, report.skipped(), {{"why", explain(report)}});
}

void TraceWriter::scaler_update(double scale, double next_scale, bool skipped) {
  decision(scale, next_scale, skipped,
           {{"scale", text_of(scale)}, {"next scale", text_of(next_scale)}});
}

void TraceWriter::decision(double scale, double next_scale, bool skipped,
                           const TraceEvents::Arguments& arguments) {
  counter("scale", next_scale);
  if (skipped) instant("scaler", "skip", arguments);
  if (next_scale > scale) instant("scaler", "growth", arguments);
  if (next_scale < scale) instant("scaler", "back-off", arguments);
}

std::string TraceWriter::optimizer_track() const {
  return std::this_thread::get_id() == thread_ ? "optimizer" : "optimizer, another thread";
}

std::shared_ptr<void> TraceWriter::watch(optim::Optimizer& optimizer) {
  struct Hooks {
    Hooks(HookHandle first, HookHandle last) : before(std::move(first)), after(std::move(last)) {}
    ~Hooks() {
      before.remove();
      after.remove();
    }
    Hooks(const Hooks&) = delete;
    Hooks& operator=(const Hooks&) = delete;

    HookHandle before, after;
  };
  // The slice is written when it ends: a step that throws leaves none.
  const auto start = std::make_shared<double>();
  const auto before = [this, start](optim::Optimizer& /*stepping*/) { *start = now(); };
  const auto after = [this, start](optim::Optimizer& stepped) {
    const std::lock_guard lock(mutex_);
    const TraceEvents::Track track = events_.track(optimizer_track());
    events_.begin(track, stepped.name(), *start);
    events_.end(track, now());
  };
  return std::make_shared<Hooks>(optimizer.register_step_pre_hook(before),
                                 optimizer.register_step_post_hook(after));
}

void TraceWriter::end_step() {
  step_ends_.push_back(next_id());
  if (std::chrono::steady_clock::now() - written_ >= options_.write_every) write();
}

void TraceWriter::write() {
  finish();
  std::string text;
  std::size_t size = 0;
  {
    const std::lock_guard lock(mutex_);
    close_modules(0);
    text = events_.text();
    size = events_.size();
  }
  files::replace_file(file_, std::as_bytes(std::span(text)));
  written_size_ = size;
  written_ = std::chrono::steady_clock::now();
}

void TraceWriter::open_modules(const std::string& path, double at) {
  const std::vector<std::string> parts = parts_of(path);
  std::size_t same = 0;
  while (same < parts.size() && same < modules_.size() && parts[same] == modules_[same]) ++same;
  close_modules(same);
  for (std::size_t i = same; i < parts.size(); ++i) {
    std::string name = parts[0];
    for (std::size_t part = 1; part <= i; ++part) name += '.' + parts[part];
    events_.begin(events_.track("forward"), name, at);
    modules_.push_back(parts[i]);
  }
}

void TraceWriter::close_modules(std::size_t kept) {
  for (; modules_.size() > kept; modules_.pop_back()) {
    events_.end(events_.track("forward"), forward_end_);
  }
}

void TraceWriter::timed(std::span<const amp::TimedCall> calls) {
  const std::lock_guard lock(mutex_);
  const amp::TimedCall& root = calls.front();
  if (is_full_) return;
  calls_ += std::ssize(calls);
  is_full_ = calls_ > options_.max_calls;
  if (is_full_) {
    close_modules(0);
    events_.instant(events_.track("forward"), "later ops are left out: see max_calls", now());
    return;
  }
  for (; !step_ends_.empty() && root.id >= step_ends_.front(); step_ends_.pop_front()) {
    close_modules(0);
  }
  const TraceEvents::Track forward = events_.track("forward");
  const TraceEvents::Track track = root.is_backward ? events_.track("backward") : forward;
  if (root.is_backward) {
    close_modules(0);
  } else {
    open_modules(root.module, root.start);
    forward_end_ = root.start + root.seconds;
  }
  std::vector<const amp::TimedCall*> open;
  const auto end_last = [&] {
    events_.end(track, open.back()->start + open.back()->seconds);
    open.pop_back();
  };
  for (const amp::TimedCall& call : calls) {
    while (!open.empty() && open.back()->id != call.parent) end_last();
    events_.begin(track, call.op, call.start, arguments_of(call));
    open.push_back(&call);
    if (!root.is_backward) starts_[call.id] = call.start;
    if (const auto start = starts_.find(call.forward); start != starts_.end()) {
      events_.arrow(call.id, forward, start->second, track, call.start);
    }
  }
  while (!open.empty()) end_last();
  if (root.live_bytes != live_bytes_) {
    live_bytes_ = root.live_bytes;
    events_.counter("memory", root.start + root.seconds, static_cast<double>(live_bytes_));
  }
}

}  // namespace halfgrad::report
