#pragma once

#include <concepts>
#include <utility>
#include <vector>

#include <halfgrad/core/plain_names.h>
#include <halfgrad/optim/formula_optimizer.h>

namespace halfgrad::optim {

struct AdadeltaArguments {
  double lr = 1;
  double rho = 0.9;
  double eps = 1e-6;
  double weight_decay = 0;
  bool maximize = false;
};
HALFGRAD_PLAIN_NAME(AdadeltaOptions, AdadeltaArguments)

/// Adadelta (Zeiler 2012), as torch.optim.Adadelta:
///
///     g = gradient (negated if maximize) + weight_decay * p
///     v = rho * v + (1 - rho) * g^2
///     d = sqrt(u + eps) / sqrt(v + eps) * g
///     u = rho * u + (1 - rho) * d^2
///     p = p - lr * d
///
/// The state of a parameter is "step", "square_avg" (v) and "acc_delta" (u).
class Adadelta : public FormulaOptimizer {
 public:
  /// Throws std::invalid_argument if rho is outside [0, 1] or another option is negative or NaN,
  /// and as add_param_group().
  explicit Adadelta(std::vector<Tensor> params, const AdadeltaArguments& options = {});
  explicit Adadelta(std::vector<ParamGroup> groups, const AdadeltaArguments& options = {});
  /// Short form: `Adadelta(parameters, 0.1)` for {.lr = 0.1}.
  Adadelta(std::vector<Tensor> params, std::floating_point auto lr)
      : Adadelta(std::move(params), AdadeltaArguments{.lr = lr}) {}

 private:
  void check_options(const ParamGroup& group) const override;
  std::vector<StateEntry> state_entries(const ParamGroup& group) const override;
  void update(const ParamGroup& group, const detail::GroupOptions* options,
              const StepControl& control) override;
};

}  // namespace halfgrad::optim
