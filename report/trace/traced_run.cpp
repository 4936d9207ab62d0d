#include <halfgrad/report/trace/traced_run.h>

#include <utility>

#include <halfgrad/core/fail.h>
#include <halfgrad/core/warning.h>
#include <halfgrad/files/replace_file.h>

namespace halfgrad::report {

TraceFiles::TraceFiles(const std::filesystem::path& trace, std::filesystem::path tensorboard)
    : tensorboard_(std::move(tensorboard)) {
  if (!tensorboard_.empty()) {
    // A probe: the runs get folders and files of their own.
    TensorBoardWriter probe(tensorboard_);
    probe.close();
    std::filesystem::remove(probe.file());
  }
  if (!trace.empty()) trace_ = std::make_unique<TraceWriter>(trace);
}

void TraceFiles::finish() {
  if (trace_) trace_->write();
  if (!failure_.empty()) throw files::WriteError(failure_);
}

TracedRun::TracedRun(TraceFiles* files, const std::string& name, amp::NamedModel model,
                     optim::Optimizer& optimizer, const std::string& options,
                     std::int64_t first_step)
    : files_(files), model_(std::move(model)), step_(first_step) {
  if (files_ == nullptr) return;
  if (!files_->tensorboard_.empty()) {
    board_.emplace(files_->tensorboard_ / name);
    board_->add_text("options", options, step_);
  }
  if (files_->trace_) {
    files_->trace_->begin_group(name, model_);
    watch_ = files_->trace_->watch(optimizer);
    guard_.emplace(*files_->trace_);
  }
}

TracedRun::~TracedRun() = default;

void TracedRun::end_step(const StepValues& values) {
  if (files_ == nullptr) return;
  try {
    if (files_->trace_) trace_step(*files_->trace_, values);
    if (board_) write_events(values);
  } catch (const files::WriteError& error) {
    if (files_->failure_.empty()) {
      detail::warn(std::string("later events are left out: ") + error.what());
      files_->failure_ = error.what();
    }
    board_.reset();
  }
  scale_ = values.scale;
  skipped_ = values.skipped;
  ++step_;
}

void TracedRun::trace_step(TraceWriter& trace, const StepValues& values) {
  trace.counter("loss", values.loss);
  if (values.score) trace.counter(values.score_name, *values.score);
  if (values.scale) {
    trace.scaler_update(scale_.value_or(*values.scale), *values.scale, values.skipped > skipped_);
  }
  trace.end_step();
}

void TracedRun::write_events(const StepValues& values) {
  constexpr std::int64_t kBetweenHistograms = 100;
  board_->add_scalar("loss", values.loss, step_);
  board_->add_scalar("skipped", static_cast<double>(values.skipped), step_);
  const std::pair<const char*, std::optional<double>> figures[] = {
      {values.score_name.c_str(), values.score},
      {"scale", values.scale},
      {"grad_norm", values.grad_norm},
      {"lr", values.lr}};
  for (const auto& [tag, value] : figures) {
    if (value) board_->add_scalar(tag, *value, step_);
  }
  if (step_ % kBetweenHistograms != 0) return;
  for (const auto& [name, parameter] : model_.parameters()) {
    if (!parameter.grad().defined()) continue;
    amp::ExponentHistogram exponents;
    exponents.add(parameter.grad().array());
    board_->add_exponents("gradients/" + name, exponents, step_);
  }
}

}  // namespace halfgrad::report
