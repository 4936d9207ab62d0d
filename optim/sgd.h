#pragma once

#include <concepts>
#include <utility>
#include <vector>

#include <halfgrad/core/plain_names.h>
#include <halfgrad/optim/optimizer.h>

namespace halfgrad::optim {

struct SGDArguments {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool maximize = false;
};
HALFGRAD_PLAIN_NAME(SGDOptions, SGDArguments)

/// Stochastic gradient descent with momentum, as torch.optim.SGD:
///
///     g = gradient (negated if maximize) + weight_decay * p
///     b = momentum * b + (1 - dampening) * g            b = g in a parameter's first update
///     p = p - lr * (nesterov ? g + momentum * b : b)    p = p - lr * g without momentum
///
/// With momentum the state of a parameter is "step" and "momentum_buffer" (b); else it has none.
class SGD : public Optimizer {
 public:
  /// Throws std::invalid_argument if lr, momentum or weight_decay is negative or NaN, for nesterov
  /// without momentum or with dampening, and as add_param_group().
  explicit SGD(std::vector<Tensor> params, const SGDArguments& options = {});
  explicit SGD(std::vector<ParamGroup> groups, const SGDArguments& options = {});
  template <GroupLike Group>
  explicit SGD(const std::vector<Group>& groups, const SGDArguments& options = {})
      : SGD(std::vector<ParamGroup>(groups.begin(), groups.end()), options) {}
  /// libtorch's short form: `SGD(parameters, 0.1)` for {.lr = 0.1}.
  SGD(std::vector<Tensor> params, std::floating_point auto lr)
      : SGD(std::move(params), SGDArguments{.lr = lr}) {}

  bool is_elementwise() const override { return true; }

 private:
  void check_options(const ParamGroup& group) const override;
  std::vector<StateEntry> state_entries(const ParamGroup& group) const override;
  bool add_step_counts(const ParamGroup& group, const detail::GroupOptions* options,
                       std::vector<detail::StepCount>& counts, Array& corrections) override;
  void update(const ParamGroup& group, const detail::GroupOptions* options,
              const StepControl& control) override;
};

}  // namespace halfgrad::optim
