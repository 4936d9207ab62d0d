#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <halfgrad/amp/scale_state.h>
#include <halfgrad/amp/step_parts.h>
#include <halfgrad/core/engines/multi_tensor_norm.h>
#include <halfgrad/optim/norm_pass.h>
#include <halfgrad/optim/step_count.h>

/// The first of the two passes that end an iteration: it reads every gradient once and computes all
/// that the optimizer's pass and the next iteration need.
namespace halfgrad::detail {

/// Outputs of the pass, on the scale's device: float32, 0-dim.
struct StepFigures {
  static StepFigures on(Device device);

  Array factors;     ///< float32 [2]: 1 / scale and the factor of clipping, or 1
  Array found_inf;   ///< 1 if an element of a gradient is inf or NaN, else 0
  Array total_norm;  ///< norm of the unscaled gradients
};

using StepGradients = std::vector<NormedTensor<StepCount>>;

/// Checks the gradients, computes their norm and the factors, and does the other `parts`. Returns
/// false, and does nothing, if the gradients do not fit in one launch. `optimizer_skipped_steps`
/// may be undefined if the step is not counted.
bool run_step_pass(const StepGradients& gradients, const StepParts& parts, const ScaleState& state,
                   const amp::GradScalerOptions& options, const StepFigures& figures,
                   const Array& optimizer_skipped_steps);
/// Returns whether gradients with these elements fit in one launch.
bool fits_step_pass(std::span<const Array> elements);

/// The end of the pass, on the device. `UpdateScale` is the functor of update_scale().
template <class UpdateScale>
struct FinishStep {
  using Item = StepCount;

  UpdateScale update_scale;
  float max_norm;
  bool clips, counts_step, updates_scale, unscales_skipped;
  const float* inv_scale;
  float* factors;
  float* found_inf;
  float* total_norm;
  std::int64_t* counters;
  std::int64_t* optimizer_skipped_steps;

  struct Before {
    amp::LossScale scale;
    float inv_scale;
  };
  HG_HD Before before() const { return {update_scale.before(), *inv_scale}; }

  HG_HD void once(float norm, bool nonfinite, const Before& before) const {
    *total_norm = norm;
    *found_inf = nonfinite ? 1 : 0;
    const bool unscales = unscales_skipped || !nonfinite;
    factors[0] = unscales ? before.inv_scale : 1;
    factors[1] = unscales && clips ? clip_coefficient(max_norm, norm) : 1;
    if (counts_step) {
      ++counters[nonfinite ? ScaleState::skipped_steps : ScaleState::steps];
      if (nonfinite) ++*optimizer_skipped_steps;
    }
    if (updates_scale) update_scale.update(before.scale, nonfinite);
  }
  HG_HD void each(const StepCount& count, bool nonfinite) const {
    if (counts_step && !nonfinite) count.advance();
  }
};

}  // namespace halfgrad::detail
