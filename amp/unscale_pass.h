#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <halfgrad/amp/scale_state.h>
#include <halfgrad/amp/step_parts.h>
#include <halfgrad/autograd/graph/pending_unscale.h>
#include <halfgrad/optim/step_count.h>

namespace halfgrad::detail {

/// The pass of GradScaler::unscale_() over narrow gradients. It runs when something first needs its
/// results (pending_unscale.h). If that is step(), the pass also counts the step.
class UnscalePass final : public PendingUnscale {
 public:
  UnscalePass(std::vector<Array> elements, const ScaleState& state,
              const amp::GradScalerOptions& options);

  /// Runs the pass now. The counts are those of the optimizer's prepare_counted_step(). Returns
  /// false, and does nothing, if the pass has run or belongs to another stream.
  bool run_and_count(const std::vector<StepCount>& counts, const Array& optimizer_skipped_steps);

  const Array& found_inf() const { return found_inf_; }  ///< float32, 0-dim; settle() computes it

 private:
  void compute_from(const std::vector<Array>& elements, std::optional<double> max_norm) override;
  void run(const std::vector<Array>& elements, const StepParts& parts,
           const std::vector<StepCount>& counts, const Array& optimizer_skipped_steps);

  ScaleState state_;
  amp::GradScalerOptions options_;
  Array found_inf_;
};

/// Makes the pass for these gradients if all are narrow, on the device of the scale, and fit in one
/// launch; else returns null.
std::shared_ptr<UnscalePass> defer_unscale(std::span<const Tensor> gradients,
                                           const ScaleState& state,
                                           const amp::GradScalerOptions& options);

}  // namespace halfgrad::detail
