#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <halfgrad/autograd/graph/pending_unscale.h>
#include <halfgrad/core/hd.h>
#include <halfgrad/core/math/math.h>
#include <halfgrad/optim/step_count.h>

namespace halfgrad::detail {

/// The factor by which nn::utils::clip_grad_norm_() multiplies gradients of this norm.
template <class T>
HG_HD T clip_coefficient(T max_norm, T total_norm) {
  return math::minimum(max_norm / (total_norm + T(1e-6)), T(1));
}

/// The pass of clip_grad_norm_() over narrow gradients that no GradScaler unscales. It runs when
/// something first needs its results (autograd/graph/pending_unscale.h). If that is
/// Optimizer::step(), the pass also counts the step.
class NormPass final : public PendingUnscale {
 public:
  using PendingUnscale::PendingUnscale;

  /// Runs the pass now. The counts are those of the gradients' parameters. Returns false, and does
  /// nothing, if the pass has run or belongs to another stream.
  bool run_and_count(const std::vector<StepCount>& counts);

 private:
  void compute_from(const std::vector<Array>& elements, std::optional<double> max_norm) override;
  void run(const std::vector<Array>& elements, std::optional<double> max_norm,
           const std::vector<StepCount>& counts);
};

/// Makes the pass for these gradients, if all are narrow and without factors, on one device, and
/// fit in one launch.
void defer_norm(std::span<const Tensor> gradients);

}  // namespace halfgrad::detail
