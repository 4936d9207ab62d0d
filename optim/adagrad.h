#pragma once

#include <concepts>
#include <utility>
#include <vector>

#include <halfgrad/core/plain_names.h>
#include <halfgrad/optim/formula_optimizer.h>

namespace halfgrad::optim {

struct AdagradArguments {
  double lr = 1e-2;
  double lr_decay = 0;
  double weight_decay = 0;
  double initial_accumulator_value = 0;
  double eps = 1e-10;
  bool maximize = false;
};
HALFGRAD_PLAIN_NAME(AdagradOptions, AdagradArguments)

/// Adagrad (Duchi, Hazan and Singer 2011), as torch.optim.Adagrad:
///
///     g = gradient (negated if maximize) + weight_decay * p
///     s = s + g^2                                  s = initial_accumulator_value at first
///     p = p - lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps)
///
/// t counts the parameter's own updates. The state of a parameter is "step" (t) and "sum" (s).
class Adagrad : public FormulaOptimizer {
 public:
  /// Throws std::invalid_argument if an option is negative or NaN, and as add_param_group().
  explicit Adagrad(std::vector<Tensor> params, const AdagradArguments& options = {});
  explicit Adagrad(std::vector<ParamGroup> groups, const AdagradArguments& options = {});
  template <GroupLike Group>
  explicit Adagrad(const std::vector<Group>& groups, const AdagradArguments& options = {})
      : Adagrad(std::vector<ParamGroup>(groups.begin(), groups.end()), options) {}
  /// Short form: `Adagrad(parameters, 0.1)` for {.lr = 0.1}.
  Adagrad(std::vector<Tensor> params, std::floating_point auto lr)
      : Adagrad(std::move(params), AdagradArguments{.lr = lr}) {}

 private:
  void check_options(const ParamGroup& group) const override;
  std::vector<StateEntry> state_entries(const ParamGroup& group) const override;
  void update(const ParamGroup& group, const detail::GroupOptions* options,
              const StepControl& control) override;
};

}  // namespace halfgrad::optim
