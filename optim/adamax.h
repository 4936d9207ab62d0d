#pragma once

#include <concepts>
#include <utility>
#include <vector>

#include <halfgrad/core/plain_names.h>
#include <halfgrad/optim/formula_optimizer.h>

namespace halfgrad::optim {

struct AdamaxArguments {
  double lr = 2e-3;
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  bool maximize = false;
};
HALFGRAD_PLAIN_NAME(AdamaxOptions, AdamaxArguments)

/// Adamax (Kingma and Ba 2015, section 7.1), as torch.optim.Adamax:
///
///     g = gradient (negated if maximize) + weight_decay * p
///     m = beta1 * m + (1 - beta1) * g
///     u = max(beta2 * u, |g| + eps)
///     p = p - lr / (1 - beta1^t) * m / u
///
/// t counts the parameter's own updates. The state of a parameter is "step" (t), "exp_avg" (m) and
/// "exp_inf" (u).
class Adamax : public FormulaOptimizer {
 public:
  /// Throws std::invalid_argument if a beta is outside [0, 1) or another option is negative or NaN,
  /// and as add_param_group().
  explicit Adamax(std::vector<Tensor> params, const AdamaxArguments& options = {});
  explicit Adamax(std::vector<ParamGroup> groups, const AdamaxArguments& options = {});
  /// Short form: `Adamax(parameters, 0.1)` for {.lr = 0.1}.
  Adamax(std::vector<Tensor> params, std::floating_point auto lr)
      : Adamax(std::move(params), AdamaxArguments{.lr = lr}) {}

 private:
  std::vector<StateEntry> state_entries(const ParamGroup& group) const override;
  void update(const ParamGroup& group, const detail::GroupOptions* options,
              const StepControl& control) override;
};

}  // namespace halfgrad::optim
