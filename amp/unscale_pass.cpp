#include <halfgrad/amp/unscale_pass.h>

#include <stdexcept>
#include <utility>

#include <halfgrad/amp/step_pass.h>
#include <halfgrad/autograd/graph/narrow_gradient.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/graph.h>

namespace halfgrad::detail {
namespace {

// A replay writes new elements, which nobody has unscaled.
bool follows_replays(const Tensor& gradient) {
  return gradient.impl()->narrow->is_captured && !Graph::is_capturing();
}

}  // namespace

UnscalePass::UnscalePass(std::vector<Array> elements, const ScaleState& state,
                         const amp::GradScalerOptions& options)
    : PendingUnscale(std::move(elements)), state_(state), options_(options) {}

bool UnscalePass::run_and_count(const std::vector<StepCount>& counts,
                                const Array& optimizer_skipped_steps) {
  if (current_stream(found_inf().device()) != stream()) return false;
  return settle_by([&] { run(counts, optimizer_skipped_steps); });
}

void UnscalePass::compute() {
  const Stream reader = current_stream(found_inf().device());
  {
    const StreamScope scope(stream());
    run({}, Array());
  }
  if (reader != stream()) reader.wait_stream(stream());
}

// Without counts the step is not counted.
void UnscalePass::run(const std::vector<StepCount>& counts, const Array& optimizer_skipped_steps) {
  StepGradients gradients;
  for (std::size_t i = 0; i < elements().size(); ++i) {
    gradients.push_back({&elements()[i], counts.empty() ? StepCount{} : counts[i]});
  }
  const StepParts parts{
      .max_norm = final_max_norm(), .counts_step = !counts.empty(), .unscales_skipped = true};
  const StepFigures figures{factors(), found_inf(), total_norm()};
  if (!run_step_pass(gradients, parts, state_, options_, figures, optimizer_skipped_steps)) {
    fail<std::logic_error>("unscale_", "expected gradients that fit in one launch, got others");
  }
  release_elements();
}

std::shared_ptr<UnscalePass> defer_unscale(std::span<const Tensor> gradients,
                                           const ScaleState& state,
                                           const amp::GradScalerOptions& options) {
  std::vector<Array> elements;
  for (const Tensor& gradient : gradients) {
    const Array* const stored = narrow_elements(gradient);
    if (stored == nullptr || stored->device() != state.scale.device()) return nullptr;
    if (follows_replays(gradient)) return nullptr;
    elements.push_back(*stored);
  }
  if (!fits_step_pass(elements)) return nullptr;
  auto pass = std::make_shared<UnscalePass>(std::move(elements), state, options);
  set_pending_unscale(gradients, pass);
  return pass;
}

}  // namespace halfgrad::detail
