#pragma once

#include <concepts>
#include <utility>
#include <vector>

#include <halfgrad/core/plain_names.h>
#include <halfgrad/optim/formula_optimizer.h>

namespace halfgrad::optim {

struct LionArguments {
  double lr = 1e-4;
  std::pair<double, double> betas = {0.9, 0.99};
  double weight_decay = 0;
  bool maximize = false;
};
HALFGRAD_PLAIN_NAME(LionOptions, LionArguments)

/// Lion (Chen et al. 2023, arXiv 2302.06675, algorithm 2), with the defaults of its authors'
/// PyTorch version; torch.optim has none:
///
///     g = gradient (negated if maximize)
///     c = beta1 * m + (1 - beta1) * g
///     p = p - lr * (sign(c) + weight_decay * p)
///     m = beta2 * m + (1 - beta2) * g
///
/// Every element moves by lr, so lr is 3 to 10 times smaller than Adam's. sign(NaN) is NaN. The
/// state of a parameter is "step" and "exp_avg" (m).
class Lion : public FormulaOptimizer {
 public:
  /// Throws std::invalid_argument if a beta is outside [0, 1) or another option is negative or NaN,
  /// and as add_param_group().
  explicit Lion(std::vector<Tensor> params, const LionArguments& options = {});
  explicit Lion(std::vector<ParamGroup> groups, const LionArguments& options = {});
  /// Short form: `Lion(parameters, 0.1)` for {.lr = 0.1}.
  Lion(std::vector<Tensor> params, std::floating_point auto lr)
      : Lion(std::move(params), LionArguments{.lr = lr}) {}

 private:
  std::vector<StateEntry> state_entries(const ParamGroup& group) const override;
  void update(const ParamGroup& group, const detail::GroupOptions* options,
              const StepControl& control) override;
};

}  // namespace halfgrad::optim
