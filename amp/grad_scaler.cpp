#include <halfgrad/amp/grad_scaler.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <stdexcept>
#include <utility>

#include <halfgrad/amp/break_it.h>
#include <halfgrad/amp/gradient_checks.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/cuda/runtime.h>
#include <halfgrad/core/stream.h>

namespace halfgrad::amp {
namespace {

std::string describe(const optim::Optimizer& optimizer) {
  std::size_t count = 0;
  for (const optim::ParamGroup& group : optimizer.param_groups()) count += group.params.size();
  return optimizer.name() + " with " + std::to_string(count) + " parameters";
}

bool has_backed_off(const detail::ScaleState& state) {
  return state.event.item() == static_cast<double>(ScaleEvent::backoff);
}

// While a graph is captured the host sees one iteration, and its replays not at all.
bool is_captured(Device device) {
  return device.is_cuda() &&
         halfgrad::detail::runtime::is_capturing(device.index(), current_stream(device).native());
}

}  // namespace

GradScaler::GradScaler(const GradScalerOptions& options)
    : options_(options), first_(initial_scale(options)) {
  if (options.enabled) check_options(options, "GradScaler");
  if (detail::broken(detail::Bug::factors_swapped)) {
    std::swap(options_.growth_factor, options_.backoff_factor);
  }
}

void GradScaler::require_scale(const char* method) const {
  if (!state_.initialized()) {
    throw std::runtime_error(std::string(method) +
                             ": expected a scaler that has scaled a loss, got one whose scale() "
                             "was never called on a tensor");
  }
}

GradScaler::Record* GradScaler::record_of(const optim::Optimizer& optimizer) {
  const auto found = std::find_if(records_.begin(), records_.end(), [&](const Record& record) {
    return record.optimizer == &optimizer;
  });
  return found != records_.end() ? &*found : nullptr;
}

detail::Check GradScaler::check() const {
  return options_.check_after_unscale ? detail::Check::unscaled : detail::Check::scaled;
}

// All or, after an exception, nothing.
void GradScaler::initialize(Device device) {
  const detail::ScaleState state(first_, device);
  const detail::StepLog log =
      options_.history > 0 ? detail::StepLog(options_.history, device) : detail::StepLog();
  copy_records(first_records_, state, log);
  state_ = state;
  log_ = log;
  first_records_.clear();
}

Tensor GradScaler::scale(const Tensor& outputs) {
  if (!options_.enabled) return outputs;
  if (!outputs.defined()) {
    throw std::invalid_argument("scale: expected a tensor, got an undefined one");
  }
  if (!state_.initialized()) initialize(outputs.device());
  Tensor scaled = outputs * Tensor(state_.scale.to(outputs.device()));
  if (detail::broken(detail::Bug::loss_dtype)) scaled = scaled.to(outputs.dtype());
  if (scaled.requires_grad()) {
    const detail::ScaleId id = is_captured(outputs.device()) ? detail::kUnknownScale : scale_id_;
    scaled.register_hook([id](const Tensor&) {
      detail::BackwardScale::meet(id);
      return Tensor();
    });
  }
  return scaled;
}

std::vector<Tensor> GradScaler::scale(const std::vector<Tensor>& outputs) {
  std::vector<Tensor> scaled;
  for (const Tensor& output : outputs) scaled.push_back(scale(output));
  return scaled;
}

// To be added to records_ once the gradients are looked at, when there is a verdict on them.
GradScaler::Record GradScaler::make_record(const optim::Optimizer& optimizer) const {
  Record record{&optimizer, {}};
  record.entry.found_inf = Array::full({}, 0, kFloat, state_.scale.device());
  if (log_.enabled()) record.entry.checked = detail::measure(optimizer, state_.scale.device());
  return record;
}

void GradScaler::unscale_(optim::Optimizer& optimizer) {
  if (!options_.enabled) return;
  require_scale("unscale_");
  if (const Record* record = record_of(optimizer)) {
    throw std::runtime_error(std::string("unscale_: expected one call per optimizer between "
                                         "updates, before step(), got one after ") +
                             (record->entry.stepped ? "step()" : "unscale_()") +
                             "; call update() at the end of each iteration");
  }
  optimizer.expect_step_allowed("unscale_");
  const std::vector<Tensor> gradients = detail::gradients_of(optimizer, "unscale_");
  if (gradients.empty()) return;
  detail::refuse_float16(optimizer, "unscale_");
  detail::expect_scale(gradients, scale_id_, "unscale_");
  detail::warn_of_unscaled_loss(gradients, "unscale_", warned_of_unscaled_loss_);
  const std::vector<Tensor> known = detail::of_known_scale(gradients);
  Record record = make_record(optimizer);
  detail::unscale(detail::arrays_of(gradients), state_.inv_scale, record.entry.found_inf, check());
  records_.push_back(std::move(record));
  detail::mark_unscaled(known);
}

StepOutcome GradScaler::step(optim::Optimizer& optimizer, const std::function<Tensor()>& closure) {
  if (!options_.enabled) return StepOutcome(Array(), optimizer.step(closure));
  if (closure) {
    throw std::runtime_error(
        "step: expected no closure, whose gradients could not be checked, got one");
  }
  require_scale("step");
  const Record* record = record_of(optimizer);
  const bool unscaled = record != nullptr;
  if (unscaled && record->entry.stepped) {
    throw std::runtime_error(
        "step: expected one call per optimizer between updates, got a second one; "
        "call update() at the end of each iteration");
  }
  optimizer.expect_step_allowed("step");
  const std::vector<Tensor> gradients = detail::gradients_of(optimizer, "step");
  detail::expect_scale(gradients, unscaled ? detail::kUnscaled : scale_id_, "step");
  const std::vector<Tensor> known = detail::of_known_scale(gradients);
  if (!unscaled && gradients.empty()) {
    throw std::runtime_error("step: expected an optimizer with at least one gradient, got " +
                             describe(optimizer) +
                             " and no gradient; call backward() on the scaled loss first");
  }
  detail::refuse_float16(optimizer, "step");
  if (!unscaled) detail::warn_of_unscaled_loss(gradients, "step", warned_of_unscaled_loss_);
  const std::int64_t steps = optimizer.steps();
  Array found_inf;
  try {
    found_inf = check_step(optimizer, gradients, unscaled);
    optimizer.step(optim::StepControl{unscaled ? nullptr : &state_.inv_scale, &found_inf});
  } catch (...) {
    if (optimizer.steps() == steps) take_back_step(optimizer, unscaled);
    throw;
  }
  detail::mark_unscaled(known);
  detail::count_step(state_, found_inf);
  return StepOutcome(found_inf);
}

// What comes before the optimizer's part of step(): its verdict.
Array GradScaler::check_step(const optim::Optimizer& optimizer,
                             const std::vector<Tensor>& gradients, bool unscaled) {
  if (!unscaled) {
    Record record = make_record(optimizer);
    detail::check_finite(detail::arrays_of(gradients), state_.inv_scale, record.entry.found_inf,
                         check());
    records_.push_back(std::move(record));
  }
  Record& record = *record_of(optimizer);
  const Array& found_inf = record.entry.found_inf;
  if (unscaled && log_.enabled()) {
    record.entry.squares_at_step = detail::measure(optimizer, state_.scale.device()).squares;
  }
  if (detail::broken(detail::Bug::scale_before_gradients)) {
    detail::update_scale(state_, std::span(&found_inf, 1), options_);
  }
  record.entry.stepped = true;
  return found_inf;
}

// The optimizer has not begun: what check_step() noted is taken back.
void GradScaler::take_back_step(const optim::Optimizer& optimizer, bool unscaled) {
  if (!unscaled) {
    std::erase_if(records_, [&](const Record& record) { return record.optimizer == &optimizer; });
  }
  if (Record* record = record_of(optimizer)) {
    record->entry.stepped = false;
    record->entry.squares_at_step = Array();
  }
}

// Ends the iteration by `change`, which updates or sets the scale.
template <class F>
void GradScaler::end_iteration(const F& change) {
  if (log_.enabled()) {
    std::vector<detail::StepEntry> entries;
    for (const Record& record : records_) entries.push_back(record.entry);
    if (entries.empty()) entries.emplace_back();
    log_.begin(entries, state_);
    change();
    log_.end(std::ssize(entries), state_);
  } else {
    change();
  }
  records_.clear();
  scale_id_ = detail::new_scale_id();
}

void GradScaler::update() {
  update_after([] {});
}

// `change` comes between the report of the iteration and the update.
void GradScaler::update_after(const std::function<void()>& change) {
  if (!options_.enabled) return;
  require_scale("update");
  std::vector<Array> found_infs;
  for (const Record& record : records_) found_infs.push_back(record.entry.found_inf);
  if (found_infs.empty()) {
    throw std::runtime_error(
        "update: expected an optimizer that was unscaled or stepped since the last update, got "
        "none");
  }
  end_iteration([&] {
    change();
    do detail::update_scale(state_, found_infs, options_);
    while (detail::broken(detail::Bug::bad_batch_repeated) && has_backed_off(state_));
  });
}

void GradScaler::update(double new_scale) {
  if (!options_.enabled) return;
  require_scale("update");
  check_scale(new_scale, options_, "update");
  const Array value = Array::full({}, new_scale, kFloat, state_.scale.device());
  end_iteration([&] { state_.set_scale(value); });
}

void GradScaler::update(const Tensor& new_scale) {
  if (!options_.enabled) return;
  require_scale("update");
  if (!new_scale.defined() || new_scale.numel() != 1 || new_scale.requires_grad() ||
      new_scale.device().type() != state_.scale.device().type()) {
    throw std::invalid_argument("update: expected a new scale of one element on " +
                                state_.scale.device().str() + " that does not require grad, got " +
                                (new_scale.defined()
                                     ? "shape " + to_string(new_scale.sizes()) + " on " +
                                           new_scale.device().str() +
                                           (new_scale.requires_grad() ? ", requiring grad" : "")
                                     : "an undefined tensor"));
  }
  if (new_scale.device().is_cpu()) check_scale(new_scale.item(), options_, "update");
  end_iteration([&] { state_.set_scale(new_scale.array()); });
}

LossScale GradScaler::loss_scale() const { return state_.initialized() ? state_.read() : first_; }

double GradScaler::get_scale() const { return options_.enabled ? loss_scale().scale : 1; }

std::int32_t GradScaler::get_growth_tracker() const {
  return options_.enabled ? loss_scale().good_steps : 0;
}

GradScalerCounts GradScaler::counts() const {
  const std::map<std::string, Array> all = records();
  if (all.empty()) return {};
  using detail::ScaleState;
  const Array host = all.at("counters").to(Device());
  const auto* const count = host.data_as<std::int64_t>();
  return {count[ScaleState::steps], count[ScaleState::skipped_steps], count[ScaleState::growths],
          count[ScaleState::backoffs]};
}

std::vector<StepReport> GradScaler::reports() const {
  if (log_.enabled()) return detail::StepLog::read(log_.rows());
  const auto loaded = first_records_.find("log");
  return loaded != first_records_.end() ? detail::StepLog::read(loaded->second)
                                        : std::vector<StepReport>();
}

}  // namespace halfgrad::amp
