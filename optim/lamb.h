#pragma once

#include <concepts>
#include <utility>
#include <vector>

#include <halfgrad/core/plain_names.h>
#include <halfgrad/optim/formula_optimizer.h>

namespace halfgrad::optim {

struct LAMBArguments {
  double lr = 1e-3;
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-6;
  double weight_decay = 1e-2;
  bool maximize = false;
};
HALFGRAD_PLAIN_NAME(LAMBOptions, LAMBArguments)

/// LAMB, Adam with a rate for each tensor (You et al. 2020, arXiv 1904.00962, algorithm 2, with the
/// identity as phi), for large batches. The defaults are NVIDIA's FusedLAMB's; torch.optim has
/// none:
///
///     g = gradient (negated if maximize)
///     m = beta1 * m + (1 - beta1) * g
///     v = beta2 * v + (1 - beta2) * g^2
///     r = m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps) + weight_decay * p
///     p = p - lr * |p| / |r| * r
///
/// |.| is the Euclidean norm of the whole tensor. Where |p| or |r| is 0 or NaN, the factor |p| /
/// |r| is 1. t counts the parameter's own updates. The state of a parameter is "step" (t),
/// "exp_avg" (m) and "exp_avg_sq" (v).
class LAMB : public FormulaOptimizer {
 public:
  /// Throws std::invalid_argument if a beta is outside [0, 1) or another option is negative or NaN,
  /// and as add_param_group().
  explicit LAMB(std::vector<Tensor> params, const LAMBArguments& options = {});
  explicit LAMB(std::vector<ParamGroup> groups, const LAMBArguments& options = {});
  /// Short form: `LAMB(parameters, 0.1)` for {.lr = 0.1}.
  LAMB(std::vector<Tensor> params, std::floating_point auto lr)
      : LAMB(std::move(params), LAMBArguments{.lr = lr}) {}

  bool is_elementwise() const override { return false; }  // the norms of a whole parameter

 private:
  std::vector<StateEntry> state_entries(const ParamGroup& group) const override;
  void update(const ParamGroup& group, const detail::GroupOptions* options,
              const StepControl& control) override;
};

}  // namespace halfgrad::optim
