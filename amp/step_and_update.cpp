#include <algorithm>
#include <cmath>
#include <utility>

#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/amp/gradient_checks.h>
#include <halfgrad/amp/step_pass.h>
#include <halfgrad/amp/unscale_pass.h>
#include <halfgrad/autograd/graph/narrow_gradient.h>
#include <halfgrad/core/deferred.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/optim/clip_grad.h>

/// The part of GradScaler that ends an iteration in two passes over the gradients: step_pass.h.
namespace halfgrad::amp {
namespace {

// The elements of a gradient in memory: 16-bit ones if it is narrow (narrow_gradient.h).
const Array& stored(const Tensor& gradient) {
  const Array* const elements = detail::narrow_elements(gradient);
  return elements != nullptr ? *elements : gradient.array();
}

// `takes_wide`: accepts contiguous float32 gradients beside narrow ones.
bool fits_two_passes(const Tensor& param, const Tensor& gradient, Device device, bool takes_wide) {
  if (param.dtype() != kFloat || param.device() != device) return false;
  if (detail::narrow_elements(gradient) != nullptr) return true;
  return takes_wide && gradient.dtype() == kFloat && gradient.is_contiguous() &&
         gradient.device() == device;
}

bool all_fit_two_passes(const optim::Optimizer& optimizer, Device device, bool takes_wide) {
  std::vector<detail::WrittenMemory> written;
  std::size_t count = 0;
  for (const Tensor& param : optimizer.parameters()) {
    const Tensor gradient = param.grad();
    if (!gradient.defined()) continue;
    if (!fits_two_passes(param, gradient, device, takes_wide)) return false;
    detail::add_written(written, stored(gradient), count++);
  }
  // Gradients that share memory are unscaled several times.
  return count > 0 && detail::passes_of(std::move(written), count).empty();
}

}  // namespace

// A history needs more figures of the gradients, check_after_unscale another check, and several
// ranks a found_inf before the scale is updated. Passes that wait on different streams would write
// the scaler's memory at once.
bool GradScaler::may_defer() const {
  const Stream now = current_stream(state_.scale.device());
  const auto is_here = [&](const OptState& other) {
    return other.pass == nullptr || other.pass->stream() == now;
  };
  return !log_.enabled() && !reduce_found_inf_ && check() == detail::Check::scaled &&
         std::all_of(opt_states_.begin(), opt_states_.end(), is_here);
}

bool GradScaler::takes_two_passes(const optim::Optimizer& optimizer, Accepted accepted) const {
  return may_defer() &&
         all_fit_two_passes(optimizer, state_.scale.device(), accepted == Accepted::all);
}

// Runs the pass over the gradients, then the optimizer's pass. Returns nullopt, and changes
// nothing, if the optimizer or the gradients do not allow it.
std::optional<StepOutcome> GradScaler::step_in_two_passes(optim::Optimizer& optimizer,
                                                          const std::vector<Tensor>& gradients,
                                                          const detail::StepParts& parts) {
  const Device device = state_.scale.device();
  std::vector<detail::StepCount> counts;
  if (!optimizer.prepare_counted_step(device, counts)) return std::nullopt;
  detail::StepGradients pass;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    pass.push_back({&stored(gradients[i]), counts[i]});
  }
  const std::vector<Tensor> known = detail::of_known_scale(gradients);
  const auto figures = detail::StepFigures::on(device);
  halfgrad::detail::settle_deferred();  // a scaled loss keeps the scale that it was given
  if (!detail::run_step_pass(pass, parts, state_, options_, figures, optimizer.skipped_steps())) {
    return std::nullopt;
  }
  if (parts.updates_scale) {
    scale_id_ = detail::new_scale_id();
  } else {
    opt_states_.push_back({&optimizer, Stage::stepped, {.found_inf = figures.found_inf}});
  }
  const Array inv_scale = figures.factors.select(0, 0), clip = figures.factors.select(0, 1);
  optimizer.step(optim::StepControl{.inv_scale = &inv_scale,
                                    .found_inf = &figures.found_inf,
                                    .clip = &clip,
                                    .factors = &figures.factors,
                                    .counted_on = device});
  detail::mark_unscaled(known);
  return StepOutcome(figures.found_inf, std::nullopt,
                     parts.max_norm ? Tensor(figures.total_norm) : Tensor());
}

// Makes sure that the pass which unscale_() deferred has run. Returns true if the pass ran here and
// counted the step, so that no other kernel has to.
bool GradScaler::finish_unscale(optim::Optimizer& optimizer, const std::vector<Tensor>& gradients,
                                detail::UnscalePass& pass) {
  std::vector<detail::StepCount> counts;
  const bool is_counted = !pass.has_run() && pass.covers(gradients) &&
                          optimizer.prepare_counted_step(state_.scale.device(), counts) &&
                          pass.run_and_count(counts, optimizer.skipped_steps());
  pass.settle();
  return is_counted;
}

StepOutcome GradScaler::step_and_update(optim::Optimizer& optimizer, const StepOptions& options) {
  const std::optional<double> max_norm = options.max_norm;
  if (max_norm && std::isnan(*max_norm)) {
    halfgrad::detail::fail("step_and_update", "expected a max_norm that is a number, got nan");
  }
  if (options_.enabled) {
    expect_scaled_loss("step_and_update");
    detail::expect_step_allowed(optimizer, "step_and_update", reduce_found_inf_ != nullptr);
    if (opt_states_.empty() && takes_two_passes(optimizer, Accepted::all)) {
      const std::vector<Tensor> gradients = detail::gradients_of(optimizer, "step_and_update");
      detail::expect_scale(gradients, scale_id_, "step_and_update");
      detail::warn_of_unscaled_loss(gradients, "step_and_update", warned_of_unscaled_loss_);
      const detail::StepParts parts{.max_norm = max_norm, .updates_scale = true};
      if (auto outcome = step_in_two_passes(optimizer, gradients, parts)) {
        return *std::move(outcome);
      }
    }
  }
  Tensor total_norm;
  if (max_norm) {
    if (options_.enabled && stage_of(optimizer) == Stage::ready) unscale_(optimizer);
    total_norm = nn::utils::clip_grad_norm_(optimizer.parameters(), *max_norm);
  }
  const StepOutcome outcome = step(optimizer);
  update();
  return StepOutcome(outcome.found_inf(), std::nullopt, total_norm);
}

}  // namespace halfgrad::amp
