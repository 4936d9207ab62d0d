#include <halfgrad/report/reported_run.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>

#include <halfgrad/core/allocator.h>

namespace halfgrad::report {
namespace {

constexpr std::size_t kMostObserved = 32;  // steps whose gradients a report keeps
constexpr std::size_t kMostChanges = 1000;
constexpr std::size_t kReadTogether = 32;  // losses and scales of a GPU
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Device device_of(const amp::NamedModel& model) {
  return model.parameters().empty() ? kCPU : model.parameters().front().second.device();
}

/// The names of parameters as a scaler counts them. The order of a model's parameters is that of no
/// optimizer with groups, so without optimizers there are none.
amp::ParameterNames names_of(const RunOptions& options) {
  return options.optimizers.empty() ? amp::ParameterNames()
                                    : amp::ParameterNames(options.model, options.optimizers);
}

/// Reading a value of any other device may wait.
bool is_host(Device device) { return device == Device(); }

double median(std::vector<double> values) {
  if (values.empty()) return kNone;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

ReportedRun::ReportedRun(const RunOptions& options)
    : model_(options.model),
      device_(device_of(options.model)),
      is_training_(options.is_training),
      scale_(options.scaler, names_of(options)),
      timer_(std::make_shared<StepTimer>(options.model)) {
  record_.name = options.name;
  record_.task = options.task;
  record_.score = options.score;
  record_.device = is_training_ ? device_.str() : "";
  record_.has_scaler = options.scaler != nullptr && options.scaler->is_enabled();
  record_.every = options.every;
  record_.exponents = Sampled<Exponents>(options.every, kMostObserved);
  begin_step();
}

void ReportedRun::step(double loss, double score) {
  const StepRow row = end_step(score);
  read_losses();  // earlier steps come first
  add(row, loss);
  begin_step();
}

void ReportedRun::step(const FinishedStep& step) {
  StepRow row = end_step(step.score);
  row.scale = told_scale_ = step.next_scale;
  record_.has_scaler = true;
  record_.skipped += step.skipped;
  if (step.skipped || step.scale != step.next_scale) {
    add(change_of({.step = row.step,
                   .scale = step.scale,
                   .next_scale = step.next_scale,
                   .skipped = step.skipped,
                   .event = {},
                   .cause = step.cause}));
  }
  if (step.loss) {
    add(row, *step.loss);
  } else {
    record_.steps.add(row);
  }
  begin_step();
}

/// A loss that is inf or NaN is counted, and is not part of the mean.
void ReportedRun::add(StepRow row, double loss) {
  row.nonfinite = !std::isfinite(loss);
  row.loss = std::isfinite(loss) ? loss : std::numeric_limits<double>::quiet_NaN();
  record_.steps.add(row);
}

void ReportedRun::add(ScaleChange change) {
  if (record_.changes.size() < kMostChanges) {
    record_.changes.push_back(std::move(change));
  } else {
    ++record_.changes_left_out;
  }
}

void ReportedRun::step(const Tensor& loss, double score) {
  if (is_host(loss.device())) return step(loss.item(), score);
  waiting_.push_back({loss.array().clone(), end_step(score)});
  if (waiting_.size() == kReadTogether) read_losses();
  begin_step();
}

StepRow ReportedRun::end_step(double score) {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began_;
  const bool is_timed = is_training_ && !observer_ && !timing_;
  if (observer_) {
    const std::shared_ptr<StepObserver> observer = observer_->observer;
    observer_.reset();
    record_.ops = observer->ops();
    record_.exponents.add(observer->exponents());
  } else if (timing_) {
    timing_.reset();
    ++record_.costs.steps;
    record_.costs.seconds += elapsed.count();
  } else if (is_timed) {
    if (seconds_.wants(timed_)) seconds_.add(elapsed.count());
    ++timed_;
  }
  ++steps_;
  if (is_host(device_) || steps_ % kReadTogether == 0) look_at_scale();
  return {.step = steps_ - 1,
          .steps = 1,
          .nonfinite = 0,
          .loss = kNone,
          .score = score,
          .scale = scale(),
          .timed = is_timed,
          .seconds = is_timed ? elapsed.count() : kNone,
          .bytes = is_training_ ? allocator::stats(device_).current : 0};
}

void ReportedRun::begin_step() {
  if (record_.exponents.wants(steps_)) {
    observer_.emplace(std::make_shared<StepObserver>(model_, steps_, scale()));
  }
  const bool follows_observed = steps_ > 0 && record_.exponents.wants(steps_ - 1);
  if (!observer_ && follows_observed) timing_.emplace(timer_);
  began_ = std::chrono::steady_clock::now();
}

void ReportedRun::look_at_scale() {
  if (!scale_.is_watching()) return;
  for (ScaleChange& change : scale_.changes(steps_)) add(std::move(change));
  record_.skipped = scale_.skipped();
}

void ReportedRun::read_losses() {
  for (const Waiting& each : std::exchange(waiting_, {})) {
    add(each.row, each.loss.item());
  }
}

RunRecord ReportedRun::snapshot() {
  read_losses();
  if (steps_ > 0) look_at_scale();
  record_.median_seconds = median(seconds_.items());
  record_.costs.rows = timer_->times();
  if (is_training_) record_.peak_bytes = allocator::stats(device_).peak;
  return record_;
}

RunRecord ReportedRun::end() {
  observer_.reset();
  timing_.reset();
  return snapshot();
}

}  // namespace halfgrad::report
