#include <halfgrad/amp/grad_scaler.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <halfgrad/autograd/ops.h>

namespace halfgrad::amp {
namespace {

// Throws for what cannot be unscaled in place, by unscale_() now or by the optimizer later.
std::vector<Array> gradients_of(const optim::Optimizer& optimizer, const std::string& method) {
  std::vector<Array> gradients;
  for (const optim::ParamGroup& group : optimizer.param_groups()) {
    for (const Tensor& param : group.params) {
      const Tensor grad = param.grad();
      if (!grad.defined()) continue;
      if (!grad.is_floating_point() || grad.array().repeats_elements()) {
        throw std::invalid_argument(
            method + ": expected floating-point gradients whose elements lie apart, got " +
            std::string(name(grad.dtype())) + " of shape " + to_string(grad.sizes()) +
            " and strides " + to_string(grad.strides()));
      }
      gradients.push_back(grad.array());
    }
  }
  return gradients;
}

// MasterWeights says what becomes of float16 gradients.
void refuse_float16(const optim::Optimizer& optimizer) {
  for (const optim::ParamGroup& group : optimizer.param_groups()) {
    for (const Tensor& param : group.params) {
      if (!param.grad().defined() || param.grad().dtype() != kHalf) continue;
      if (optimizer.state(param).contains(detail::kMaster)) continue;
      throw std::invalid_argument(
          "unscale_: expected gradients of float32, float64 or bfloat16, got float16, in which "
          "what scaling saved would vanish again; keep the weights in float32 and let autocast "
          "make the float16 copies, or give the optimizer MasterWeights");
    }
  }
}

std::string describe(const optim::Optimizer& optimizer) {
  std::size_t count = 0;
  for (const optim::ParamGroup& group : optimizer.param_groups()) count += group.params.size();
  return optimizer.name() + " with " + std::to_string(count) + " parameters";
}

}  // namespace

GradScaler::GradScaler(const GradScalerOptions& options) : options_(options) {
  if (options.enabled) check_options(options, "GradScaler");
}

void GradScaler::require_scale(const char* method) const {
  if (!state_.initialized()) {
    throw std::runtime_error(std::string(method) +
                             ": expected a scaler that has scaled a loss, got one whose scale() "
                             "was never called on a tensor");
  }
}

GradScaler::Stage GradScaler::stage_of(const optim::Optimizer& optimizer) const {
  const auto found = records_.find(&optimizer);
  return found == records_.end() ? Stage::ready : found->second.stage;
}

detail::Check GradScaler::check() const {
  return options_.check_after_unscale ? detail::Check::unscaled : detail::Check::scaled;
}

Tensor GradScaler::scale(const Tensor& outputs) {
  if (!options_.enabled) return outputs;
  if (!outputs.defined()) {
    throw std::invalid_argument("scale: expected a tensor, got an undefined one");
  }
  if (!state_.initialized()) {
    state_ = detail::ScaleState(options_.init_scale, init_growth_tracker_, outputs.device());
    state_.bad_steps.fill_(init_bad_steps_);
  }
  return outputs * Tensor(state_.scale.to(outputs.device()));
}

std::vector<Tensor> GradScaler::scale(const std::vector<Tensor>& outputs) {
  std::vector<Tensor> scaled;
  for (const Tensor& output : outputs) scaled.push_back(scale(output));
  return scaled;
}

void GradScaler::unscale_(optim::Optimizer& optimizer) {
  if (!options_.enabled) return;
  require_scale("unscale_");
  const Stage stage = stage_of(optimizer);
  if (stage != Stage::ready) {
    throw std::runtime_error(std::string("unscale_: expected one call per optimizer between "
                                         "updates, before step(), got one after ") +
                             (stage == Stage::unscaled ? "another" : "step()"));
  }
  const std::vector<Array> gradients = gradients_of(optimizer, "unscale_");
  if (gradients.empty()) return;
  refuse_float16(optimizer);
  const Array found_inf = Array::full({}, 0, kFloat, state_.scale.device());
  detail::unscale(gradients, state_.inv_scale, found_inf, check());
  records_[&optimizer] = {Stage::unscaled, found_inf};
}

StepOutcome GradScaler::step(optim::Optimizer& optimizer, const std::function<Tensor()>& closure) {
  if (!options_.enabled) return StepOutcome(Array(), optimizer.step(closure));
  if (closure) {
    throw std::runtime_error(
        "step: expected no closure, whose gradients could not be checked, got one");
  }
  require_scale("step");
  const Stage stage = stage_of(optimizer);
  if (stage == Stage::stepped) {
    throw std::runtime_error("step: expected one call per optimizer between updates, got another");
  }
  const bool unscaled = stage == Stage::unscaled;
  Array found_inf;
  if (unscaled) {
    found_inf = records_.at(&optimizer).found_inf;
  } else {
    const std::vector<Array> gradients = gradients_of(optimizer, "step");
    if (gradients.empty()) {
      throw std::runtime_error("step: expected an optimizer with at least one gradient, got " +
                               describe(optimizer) +
                               " and no gradient; call backward() on the scaled loss first");
    }
    found_inf = Array::full({}, 0, kFloat, state_.scale.device());
    detail::check_finite(gradients, state_.inv_scale, found_inf, check());
  }
  optimizer.step(optim::StepControl{unscaled ? nullptr : &state_.inv_scale, &found_inf});
  detail::count_step(state_, found_inf);
  records_[&optimizer] = {Stage::stepped, found_inf};
  return StepOutcome(found_inf);
}

void GradScaler::update() {
  if (!options_.enabled) return;
  require_scale("update");
  std::vector<Array> found_infs;
  for (const auto& [optimizer, record] : records_) found_infs.push_back(record.found_inf);
  if (found_infs.empty()) {
    throw std::runtime_error(
        "update: expected an optimizer that was unscaled or stepped since the last update, got "
        "none");
  }
  detail::update_scale(state_, found_infs, options_);
  records_.clear();
}

void GradScaler::update(double new_scale) {
  if (!options_.enabled) return;
  require_scale("update");
  check_scale(new_scale, options_, "update");
  state_.set_scale(Array::full({}, new_scale, kFloat, state_.scale.device()));
  records_.clear();
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
  state_.set_scale(new_scale.array());
  records_.clear();
}

double GradScaler::get_scale() const {
  if (!options_.enabled) return 1;
  return state_.initialized() ? state_.scale.item() : options_.init_scale;
}

std::int32_t GradScaler::get_growth_tracker() const {
  if (!options_.enabled) return 0;
  return state_.initialized() ? static_cast<std::int32_t>(state_.growth_tracker.item())
                              : init_growth_tracker_;
}

GradScalerCounts GradScaler::counts() const {
  if (!state_.initialized()) return {};
  using detail::ScaleState;
  const Array host = state_.counters.to(Device());
  const auto* const count = host.data_as<std::int64_t>();
  return {count[ScaleState::steps], count[ScaleState::skipped_steps], count[ScaleState::growths],
          count[ScaleState::backoffs]};
}

void GradScaler::set_options(const GradScalerOptions& options, const char* method) {
  if (options.enabled) check_options(options, method);
  options_ = options;
}

void GradScaler::set_growth_factor(double growth_factor) {
  GradScalerOptions changed = options_;
  changed.growth_factor = growth_factor;
  set_options(changed, "set_growth_factor");
}

void GradScaler::set_backoff_factor(double backoff_factor) {
  GradScalerOptions changed = options_;
  changed.backoff_factor = backoff_factor;
  set_options(changed, "set_backoff_factor");
}

void GradScaler::set_growth_interval(std::int32_t growth_interval) {
  GradScalerOptions changed = options_;
  changed.growth_interval = growth_interval;
  set_options(changed, "set_growth_interval");
}

GradScalerState GradScaler::state_dict() const {
  if (!options_.enabled) return {};
  GradScalerState state{{"scale", get_scale()},
                        {"growth_factor", options_.growth_factor},
                        {"backoff_factor", options_.backoff_factor},
                        {"growth_interval", options_.growth_interval},
                        {"_growth_tracker", get_growth_tracker()}};
  if (options_.hysteresis > 1) {
    state["_bad_steps"] = state_.initialized() ? state_.bad_steps.item() : init_bad_steps_;
  }
  return state;
}

void GradScaler::load_state_dict(const GradScalerState& state) {
  if (!options_.enabled) return;
  if (state.empty()) {
    throw std::runtime_error(
        "load_state_dict: expected the state of an enabled scaler, got an empty one, as a disabled "
        "scaler gives");
  }
  std::string missing;
  const auto number = [&](const char* key) {
    const auto found = state.find(key);
    if (found != state.end()) return found->second;
    missing += (missing.empty() ? "" : ", ") + std::string(key);
    return 0.0;
  };
  const auto integer = [&](const char* key) {
    const double value = number(key);
    const double nearest = std::nearbyint(std::clamp(value, 0.0, 0x1p31 - 1));
    if (value != nearest) {
      throw std::invalid_argument(std::string("load_state_dict: expected ") + key +
                                  " to be an int32 >= 0, got " + std::to_string(value));
    }
    return static_cast<std::int32_t>(value);
  };
  GradScalerOptions loaded = options_;
  loaded.init_scale = number("scale");
  loaded.growth_factor = number("growth_factor");
  loaded.backoff_factor = number("backoff_factor");
  loaded.growth_interval = integer("growth_interval");
  const std::int32_t growth_tracker = integer("_growth_tracker");
  const std::int32_t bad_steps = state.contains("_bad_steps") ? integer("_bad_steps") : 0;
  if (!missing.empty()) {
    throw std::invalid_argument("load_state_dict: expected PyTorch's keys, got none for " +
                                missing);
  }
  set_options(loaded, "load_state_dict");
  init_growth_tracker_ = growth_tracker;
  init_bad_steps_ = bad_steps;
  if (!state_.initialized()) return;
  state_.set_scale(Array::full({}, loaded.init_scale, kFloat, state_.scale.device()));
  state_.growth_tracker.fill_(growth_tracker);
  state_.bad_steps.fill_(bad_steps);
}

}  // namespace halfgrad::amp
