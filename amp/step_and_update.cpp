#include <cmath>
#include <utility>

#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/amp/gradient_checks.h>
#include <halfgrad/amp/step_pass.h>
#include <halfgrad/autograd/graph/narrow_gradient.h>
#include <halfgrad/core/deferred.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/optim/clip_grad.h>

namespace halfgrad::amp {
namespace {

// The gradient as it lies in memory.
const Array& stored(const Tensor& gradient) {
  const Array* const elements = detail::narrow_elements(gradient);
  return elements != nullptr ? *elements : gradient.array();
}

bool fits_two_passes(const Tensor& param, const Tensor& gradient, Device device) {
  if (param.dtype() != kFloat || param.device() != device) return false;
  if (detail::narrow_elements(gradient) != nullptr) return true;
  return gradient.dtype() == kFloat && gradient.is_contiguous() && gradient.device() == device;
}

bool fit_two_passes(const optim::Optimizer& optimizer, Device device) {
  std::vector<detail::WrittenMemory> written;
  std::size_t count = 0;
  for (const Tensor& param : optimizer.parameters()) {
    const Tensor gradient = param.grad();
    if (!gradient.defined()) continue;
    if (!fits_two_passes(param, gradient, device)) return false;
    detail::add_written(written, stored(gradient), count++);
  }
  // Gradients that share memory are unscaled several times.
  return count > 0 && detail::passes_of(std::move(written), count).empty();
}

}  // namespace

// Makes no change if it returns no outcome.
std::optional<StepOutcome> GradScaler::step_in_two_passes(optim::Optimizer& optimizer,
                                                          double max_norm) {
  const Device device = state_.scale.device();
  const bool is_usual = !log_.enabled() && check() == detail::Check::scaled && opt_states_.empty();
  if (!is_usual || !fit_two_passes(optimizer, device)) return std::nullopt;
  const std::vector<Tensor> gradients = detail::gradients_of(optimizer, "step_and_update");
  detail::expect_scale(gradients, scale_id_, "step_and_update");
  detail::warn_of_unscaled_loss(gradients, "step_and_update", warned_of_unscaled_loss_);

  std::vector<detail::StepCount> counts;
  if (!optimizer.prepare_counted_step(device, counts)) return std::nullopt;
  detail::StepGradients pass;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    pass.push_back({&stored(gradients[i]), counts[i]});
  }
  const std::vector<Tensor> known = detail::of_known_scale(gradients);
  const detail::StepFigures figures(device);
  halfgrad::detail::settle_deferred();  // a scaled loss keeps the scale that it was given
  if (!detail::check_and_update(pass, max_norm, state_, options_, figures,
                                optimizer.skipped_steps())) {
    return std::nullopt;
  }
  scale_id_ = detail::new_scale_id();
  const Array inv_scale = figures.factors.select(0, 0), clip = figures.factors.select(0, 1);
  optimizer.step(optim::StepControl{.inv_scale = &inv_scale,
                                    .found_inf = &figures.found_inf,
                                    .clip = &clip,
                                    .factors = &figures.factors});
  detail::mark_unscaled(known);
  return StepOutcome(figures.found_inf, std::nullopt, Tensor(figures.total_norm));
}

StepOutcome GradScaler::step_and_update(optim::Optimizer& optimizer, const StepOptions& options) {
  const std::optional<double> max_norm = options.max_norm;
  if (max_norm && std::isnan(*max_norm)) {
    halfgrad::detail::fail("step_and_update", "expected a max_norm that is a number, got nan");
  }
  if (options_.enabled) {
    expect_scaled_loss("step_and_update");
    optimizer.expect_step_allowed("step_and_update");
    if (max_norm) {
      if (auto outcome = step_in_two_passes(optimizer, *max_norm)) return *std::move(outcome);
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
