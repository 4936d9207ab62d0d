#pragma once

#include <concepts>
#include <utility>
#include <vector>

#include <halfgrad/core/plain_names.h>
#include <halfgrad/optim/formula_optimizer.h>

namespace halfgrad::optim {

struct RAdamArguments {
  double lr = 1e-3;
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  bool decoupled_weight_decay = false;
  bool maximize = false;
};
HALFGRAD_PLAIN_NAME(RAdamOptions, RAdamArguments)

/// RAdam, Adam with a rectified adaptive rate (Liu et al. 2020), as torch.optim.RAdam:
///
///     g = gradient (negated if maximize) + weight_decay * p
///     m = beta1 * m + (1 - beta1) * g
///     v = beta2 * v + (1 - beta2) * g^2
///     rho_inf = 2 / (1 - beta2) - 1
///     rho = rho_inf - 2 * t * beta2^t / (1 - beta2^t)
///     r = sqrt((rho - 4) (rho - 2) rho_inf / ((rho_inf - 4) (rho_inf - 2) rho))
///     p = p - lr / (1 - beta1^t) * m * r * sqrt(1 - beta2^t) / (sqrt(v) + eps)    if rho > 5
///     p = p - lr / (1 - beta1^t) * m                                              else
///
/// With decoupled_weight_decay, p * (1 - lr * weight_decay) takes the place of p, and the gradient
/// has no decay. t counts the parameter's own updates. The state of a parameter is "step" (t),
/// "exp_avg" (m) and "exp_avg_sq" (v).
class RAdam : public FormulaOptimizer {
 public:
  /// Throws std::invalid_argument if a beta is outside [0, 1) or another option is negative or NaN,
  /// and as add_param_group().
  explicit RAdam(std::vector<Tensor> params, const RAdamArguments& options = {});
  explicit RAdam(std::vector<ParamGroup> groups, const RAdamArguments& options = {});
  /// Short form: `RAdam(parameters, 0.1)` for {.lr = 0.1}.
  RAdam(std::vector<Tensor> params, std::floating_point auto lr)
      : RAdam(std::move(params), RAdamArguments{.lr = lr}) {}

 private:
  std::vector<StateEntry> state_entries(const ParamGroup& group) const override;
  void update(const ParamGroup& group, const detail::GroupOptions* options,
              const StepControl& control) override;
};

}  // namespace halfgrad::optim
