#include <halfgrad/amp/grad_scaler.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <halfgrad/amp/gradient_checks.h>
#include <halfgrad/amp/step_parts.h>
#include <halfgrad/amp/unscale_pass.h>
#include <halfgrad/autograd/graph/scaled_loss.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/cuda/runtime/runtime.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/stream.h>
#include <halfgrad/optim/count_step.h>

namespace halfgrad::amp {
namespace {

using halfgrad::detail::fail;

// True while a graph is captured. The host runs this code at the capture, and at no replay.
bool is_captured(Device device) {
  return device.is_cuda() &&
         halfgrad::detail::runtime::is_capturing(device.index(), current_stream(device).native());
}

}  // namespace

GradScaler::GradScaler(const GradScalerOptions& options)
    : options_(options), first_(initial_scale(options)) {
  if (options.enabled) check_options(options, "GradScaler");
}

void GradScaler::expect_scaled_loss(const char* method) const {
  if (state_.initialized()) return;
  fail<std::runtime_error>(method,
                           "expected a scaler that has scaled a loss, got one whose scale() was "
                           "never called on a tensor");
}

GradScaler::OptState* GradScaler::find_state(const optim::Optimizer& optimizer) {
  const auto found =
      std::find_if(opt_states_.begin(), opt_states_.end(),
                   [&](const OptState& state) { return state.optimizer == &optimizer; });
  return found != opt_states_.end() ? &*found : nullptr;
}

GradScaler::Stage GradScaler::stage_of(const optim::Optimizer& optimizer) {
  const OptState* const state = find_state(optimizer);
  return state != nullptr ? state->stage : Stage::ready;
}

detail::Check GradScaler::check() const {
  return options_.check_after_unscale ? detail::Check::unscaled : detail::Check::scaled;
}

// Either makes the whole state or, after an exception, none of it.
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
    fail("scale", "expected a tensor, got an undefined one");
  }
  if (!state_.initialized()) initialize(outputs.device());
  if (log_.enabled() && outputs.numel() == 1) log_.add_loss(outputs.array());
  const detail::ScaleId id = is_captured(outputs.device()) ? detail::kUnknownScale : scale_id_;
  const auto hook = [id](const Tensor&) {
    detail::BackwardScale::meet(id);
    return Tensor();
  };
  const Tensor scale(state_.scale.to(outputs.device()));
  if (Tensor scaled = detail::scaled_loss(outputs, scale, hook); scaled.defined()) return scaled;
  Tensor scaled = outputs * scale;
  if (scaled.requires_grad()) scaled.register_hook(hook);
  return scaled;
}

std::vector<Tensor> GradScaler::scale(const std::vector<Tensor>& outputs) {
  std::vector<Tensor> scaled;
  for (const Tensor& output : outputs) scaled.push_back(scale(output));
  return scaled;
}

void GradScaler::set_scale(double scale) {
  expect_scaled_loss("set_scale");
  detail::settle_deferred();
  state_.set_scale(Array::full({}, scale, kFloat, state_.scale.device()));
}

void GradScaler::set_scale(double scale, detail::ScaleId id) {
  set_scale(scale);
  scale_id_ = id;
}

detail::StepEntry GradScaler::new_entry(const optim::Optimizer& optimizer) const {
  detail::StepEntry entry;
  entry.found_inf = Array::full({}, 0, kFloat, state_.scale.device());
  if (log_.enabled()) entry.checked = detail::measure(optimizer, state_.scale.device());
  return entry;
}

void GradScaler::unscale_(optim::Optimizer& optimizer) {
  if (!options_.enabled) return;
  expect_scaled_loss("unscale_");
  if (const Stage stage = stage_of(optimizer); stage != Stage::ready) {
    fail<std::runtime_error>("unscale_",
                             "expected one call per optimizer between updates, before step(), got "
                             "one after {}; call update() at the end of each iteration",
                             stage == Stage::stepped ? "step()" : "unscale_()");
  }
  detail::expect_step_allowed(optimizer, "unscale_", reduce_found_inf_ != nullptr);
  const std::vector<Tensor> gradients = detail::gradients_of(optimizer, "unscale_");
  if (gradients.empty() && !reduce_found_inf_) return;  // else other ranks wait for this one
  detail::refuse_float16(optimizer, "unscale_");
  detail::expect_scale(gradients, scale_id_, "unscale_");
  detail::warn_of_unscaled_loss(gradients, "unscale_", warned_of_unscaled_loss_);
  const std::vector<Tensor> known = detail::of_known_scale(gradients);
  const auto pass = may_defer() ? detail::defer_unscale(gradients, state_, options_) : nullptr;
  const auto entry =
      pass ? detail::StepEntry{.found_inf = pass->found_inf()} : new_entry(optimizer);
  if (!pass) {
    detail::unscale(detail::arrays_of(gradients), state_.inv_scale, entry.found_inf, check());
  }
  detail::mark_unscaled(known);
  if (reduce_found_inf_) reduce_found_inf_(entry.found_inf);
  opt_states_.push_back({&optimizer, Stage::unscaled, entry, pass});
}

StepOutcome GradScaler::step(optim::Optimizer& optimizer, const std::function<Tensor()>& closure) {
  if (!options_.enabled) {
    const Tensor loss = optimizer.step(closure);
    return StepOutcome(Array(), loss.defined() ? std::optional(loss) : std::nullopt);
  }
  if (closure) {
    fail<std::runtime_error>("step",
                             "expected no closure, whose gradients could not be checked, got one");
  }
  expect_scaled_loss("step");
  const Stage stage = stage_of(optimizer);
  if (stage == Stage::stepped) {
    fail<std::runtime_error>("step",
                             "expected one call per optimizer between updates, got a second one; "
                             "call update() at the end of each iteration");
  }
  const bool unscaled = stage == Stage::unscaled;
  detail::expect_step_allowed(optimizer, "step", reduce_found_inf_ != nullptr);
  const std::vector<Tensor> gradients = detail::gradients_of(optimizer, "step");
  detail::expect_scale(gradients, unscaled ? detail::kUnscaled : scale_id_, "step");
  const std::vector<Tensor> known = detail::of_known_scale(gradients);
  if (!unscaled && gradients.empty()) {
    fail<std::runtime_error>("step",
                             "expected an optimizer with at least one gradient, got {} with {} "
                             "parameters and no gradient; call backward() on the scaled loss first",
                             optimizer.name(), optimizer.parameters().size());
  }
  detail::refuse_float16(optimizer, "step");
  if (!unscaled) {
    detail::warn_of_unscaled_loss(gradients, "step", warned_of_unscaled_loss_);
    if (takes_two_passes(optimizer, Accepted::narrow)) {
      if (auto outcome = step_in_two_passes(optimizer, gradients, {})) return *std::move(outcome);
    }
  }
  const std::int64_t steps = optimizer.steps();
  Array found_inf;
  optim::StepControl control{unscaled ? nullptr : &state_.inv_scale, &found_inf};
  try {
    found_inf = begin_step(optimizer, gradients, stage);
    if (const auto pass = find_state(optimizer)->pass) {
      if (finish_unscale(optimizer, gradients, *pass)) control.counted_on = state_.scale.device();
    }
    optimizer.step(control);
  } catch (...) {
    if (optimizer.steps() == steps) undo_step(optimizer, stage);
    throw;
  }
  detail::mark_unscaled(known);
  if (!control.counted_on) {
    detail::count_step(found_inf, state_.counters.select(0, detail::ScaleState::skipped_steps),
                       state_.counters.select(0, detail::ScaleState::steps));
  }
  return StepOutcome(found_inf);
}

// Checks the gradients, unless unscale_() did, and returns the optimizer's found_inf.
Array GradScaler::begin_step(const optim::Optimizer& optimizer,
                             const std::vector<Tensor>& gradients, Stage stage) {
  if (stage == Stage::ready) {
    const detail::StepEntry entry = new_entry(optimizer);
    detail::check_finite(detail::arrays_of(gradients), state_.inv_scale, entry.found_inf, check());
    if (reduce_found_inf_) reduce_found_inf_(entry.found_inf);
    opt_states_.push_back({&optimizer, Stage::ready, entry});
  }
  OptState& state = *find_state(optimizer);
  if (stage == Stage::unscaled && log_.enabled()) {
    state.entry.squares_at_step = detail::measure(optimizer, state_.scale.device()).squares;
  }
  state.stage = Stage::stepped;
  return state.entry.found_inf;
}

// Undoes begin_step(), for an optimizer whose update has not begun.
void GradScaler::undo_step(const optim::Optimizer& optimizer, Stage stage) {
  if (stage == Stage::ready) {
    std::erase_if(opt_states_,
                  [&](const OptState& state) { return state.optimizer == &optimizer; });
  } else if (OptState* const state = find_state(optimizer)) {
    state->stage = stage;
    state->entry.squares_at_step = Array();
  }
}

// Ends the iteration by `change`, which updates or sets the scale.
template <class F>
void GradScaler::end_iteration(const F& change) {
  detail::settle_deferred();
  if (log_.enabled()) {
    std::vector<detail::StepEntry> entries;
    for (OptState& state : opt_states_) {
      state.entry.stepped = state.stage == Stage::stepped;
      entries.push_back(state.entry);
    }
    if (entries.empty()) entries.emplace_back();
    log_.begin(entries, state_);
    change();
    log_.end(std::ssize(entries), state_);
  } else {
    change();
  }
  opt_states_.clear();
  scale_id_ = detail::new_scale_id();
}

void GradScaler::update() {
  if (!options_.enabled) return;
  expect_scaled_loss("update");
  std::vector<Array> found_infs;
  for (const OptState& state : opt_states_) {
    if (state.pass != nullptr) state.pass->settle();
    found_infs.push_back(state.entry.found_inf);
  }
  if (found_infs.empty()) {
    fail<std::runtime_error>(
        "update",
        "expected an optimizer that was unscaled or stepped since the last update, got none");
  }
  end_iteration([&] { detail::update_scale(state_, found_infs, options_); });
}

void GradScaler::update(double new_scale) {
  if (!options_.enabled) return;
  expect_scaled_loss("update");
  check_scale(new_scale, options_, "update");
  const Array value = Array::full({}, new_scale, kFloat, state_.scale.device());
  end_iteration([&] { state_.reset_scale(value); });
}

void GradScaler::update(const Tensor& new_scale) {
  if (!options_.enabled) return;
  expect_scaled_loss("update");
  if (!new_scale.defined() || new_scale.numel() != 1 || new_scale.requires_grad() ||
      new_scale.device().type() != state_.scale.device().type()) {
    const std::string got = !new_scale.defined() ? "an undefined tensor"
                                                 : "shape " + to_string(new_scale.sizes()) +
                                                       " on " + new_scale.device().str();
    fail("update", "expected a new scale of one element on {} that does not require grad, got {}{}",
         state_.scale.device(), got,
         new_scale.defined() && new_scale.requires_grad() ? ", requiring grad" : "");
  }
  if (new_scale.device().is_cpu()) check_scale(new_scale.item(), options_, "update");
  end_iteration([&] { state_.reset_scale(new_scale.array()); });
}

void GradScaler::abandon() {
  opt_states_.clear();
  if (log_.enabled()) log_.drop_losses();
}

}  // namespace halfgrad::amp
