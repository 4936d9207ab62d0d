#pragma once

#include <concepts>
#include <utility>
#include <vector>

#include <halfgrad/core/plain_names.h>
#include <halfgrad/optim/formula_optimizer.h>

namespace halfgrad::optim {

struct RMSpropArguments {
  double lr = 1e-2;
  double alpha = 0.99;
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum = 0;
  bool centered = false;
  bool maximize = false;
};
HALFGRAD_PLAIN_NAME(RMSpropOptions, RMSpropArguments)

/// RMSprop (Hinton, lecture 6 of "Neural Networks for Machine Learning", 2012), as
/// torch.optim.RMSprop:
///
///     g = gradient (negated if maximize) + weight_decay * p
///     v = alpha * v + (1 - alpha) * g^2
///     a = alpha * a + (1 - alpha) * g             with centered (Graves 2013)
///     d = sqrt(centered ? v - a^2 : v) + eps
///     b = momentum * b + g / d                    with momentum
///     p = p - lr * (momentum > 0 ? b : g / d)
///
/// The state of a parameter is "step", "square_avg" (v), with momentum "momentum_buffer" (b), and
/// with centered "grad_avg" (a). Where rounding makes v - a^2 negative, it counts as 0; PyTorch's
/// parameter becomes NaN.
class RMSprop : public FormulaOptimizer {
 public:
  /// Throws std::invalid_argument if an option is negative or NaN, and as add_param_group().
  explicit RMSprop(std::vector<Tensor> params, const RMSpropArguments& options = {});
  explicit RMSprop(std::vector<ParamGroup> groups, const RMSpropArguments& options = {});
  template <GroupLike Group>
  explicit RMSprop(const std::vector<Group>& groups, const RMSpropArguments& options = {})
      : RMSprop(std::vector<ParamGroup>(groups.begin(), groups.end()), options) {}
  /// Short form: `RMSprop(parameters, 0.1)` for {.lr = 0.1}.
  RMSprop(std::vector<Tensor> params, std::floating_point auto lr)
      : RMSprop(std::move(params), RMSpropArguments{.lr = lr}) {}

 private:
  void check_options(const ParamGroup& group) const override;
  std::vector<StateEntry> state_entries(const ParamGroup& group) const override;
  void update(const ParamGroup& group, const detail::GroupOptions* options,
              const StepControl& control) override;
};

}  // namespace halfgrad::optim
