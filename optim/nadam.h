#pragma once

#include <concepts>
#include <utility>
#include <vector>

#include <halfgrad/core/plain_names.h>
#include <halfgrad/optim/optimizer.h>

namespace halfgrad::optim {

struct NAdamArguments {
  double lr = 2e-3;
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum_decay = 4e-3;
  bool decoupled_weight_decay = false;
  bool maximize = false;
};
HALFGRAD_PLAIN_NAME(NAdamOptions, NAdamArguments)

/// NAdam, Adam with Nesterov momentum (Dozat 2016), as torch.optim.NAdam:
///
///     g = gradient (negated if maximize) + weight_decay * p
///     mu(t) = beta1 * (1 - 0.96^(t * momentum_decay) / 2)
///     m = beta1 * m + (1 - beta1) * g
///     v = beta2 * v + (1 - beta2) * g^2
///     d = sqrt(v / (1 - beta2^t)) + eps
///     M = mu(1) * ... * mu(t)
///     p = p - lr * ((1 - mu(t)) / (1 - M) * g + mu(t + 1) / (1 - M * mu(t + 1)) * m) / d
///
/// With decoupled_weight_decay, p * (1 - lr * weight_decay) takes the place of p, and the gradient
/// has no decay. t counts the parameter's own updates. The state of a parameter is "step" (t),
/// "mu_product" (M, 0-dim float32), "exp_avg" (m) and "exp_avg_sq" (v).
class NAdam : public Optimizer {
 public:
  /// Throws std::invalid_argument if a beta is outside [0, 1) or another option is negative or NaN,
  /// and as add_param_group().
  explicit NAdam(std::vector<Tensor> params, const NAdamArguments& options = {});
  explicit NAdam(std::vector<ParamGroup> groups, const NAdamArguments& options = {});
  /// Short form: `NAdam(parameters, 0.1)` for {.lr = 0.1}.
  NAdam(std::vector<Tensor> params, std::floating_point auto lr)
      : NAdam(std::move(params), NAdamArguments{.lr = lr}) {}

  bool is_elementwise() const override { return true; }

 private:
  void check_options(const ParamGroup& group) const override;
  std::vector<StateEntry> state_entries(const ParamGroup& group) const override;
  void update(const ParamGroup& group, const detail::GroupOptions* options,
              const StepControl& control) override;
};

}  // namespace halfgrad::optim
