#include <halfgrad/amp/unscale_pass.h>

#include <stdexcept>
#include <utility>

#include <halfgrad/amp/step_pass.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::detail {

UnscalePass::UnscalePass(std::vector<Array> elements, const ScaleState& state,
                         const amp::GradScalerOptions& options)
    : PendingUnscale(std::move(elements)),
      state_(state),
      options_(options),
      found_inf_(Array::empty({}, kFloat, state.scale.device())) {}

bool UnscalePass::run_and_count(const std::vector<StepCount>& counts,
                                const Array& optimizer_skipped_steps) {
  return settle_here([&](const std::vector<Array>& elements, std::optional<double> max_norm) {
    run(elements, {.max_norm = max_norm, .unscales_skipped = true}, counts,
        optimizer_skipped_steps);
  });
}

void UnscalePass::compute_from(const std::vector<Array>& elements, std::optional<double> max_norm) {
  const std::vector<StepCount> none(elements.size());
  run(elements, {.max_norm = max_norm, .counts_step = false, .unscales_skipped = true}, none, {});
}

void UnscalePass::run(const std::vector<Array>& elements, const StepParts& parts,
                      const std::vector<StepCount>& counts, const Array& optimizer_skipped_steps) {
  StepGradients gradients;
  for (std::size_t i = 0; i < elements.size(); ++i) gradients.push_back({&elements[i], counts[i]});
  const StepFigures figures{factors(), found_inf_, total_norm()};
  if (!run_step_pass(gradients, parts, state_, options_, figures, optimizer_skipped_steps)) {
    fail<std::logic_error>("unscale_", "expected gradients that fit in one launch, got others");
  }
}

std::shared_ptr<UnscalePass> defer_unscale(std::span<const Tensor> gradients,
                                           const ScaleState& state,
                                           const amp::GradScalerOptions& options) {
  std::vector<Array> elements = elements_for_pass(gradients);
  if (elements.empty() || elements[0].device() != state.scale.device()) return nullptr;
  if (!fits_step_pass(elements)) return nullptr;
  auto pass = std::make_shared<UnscalePass>(std::move(elements), state, options);
  set_pending_unscale(gradients, pass);
  return pass;
}

}  // namespace halfgrad::detail
