#pragma once

#include <concepts>
#include <utility>
#include <vector>

#include <halfgrad/core/plain_names.h>
#include <halfgrad/optim/optimizer.h>

namespace halfgrad::optim {

struct AdamArguments {
  double lr = 1e-3;
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  bool amsgrad = false;
  bool maximize = false;
};
HALFGRAD_PLAIN_NAME(AdamOptions, AdamArguments)

/// Adam (Kingma and Ba 2015, section 2), as torch.optim.Adam:
///
///     g = gradient (negated if maximize) + weight_decay * p
///     m = beta1 * m + (1 - beta1) * g
///     v = beta2 * v + (1 - beta2) * g^2
///     bias_correction1 = 1 - beta1^t
///     bias_correction2 = 1 - beta2^t
///     p = p - lr / bias_correction1 * m / (sqrt(v) / sqrt(bias_correction2) + eps)
///
/// t counts the parameter's own updates. With amsgrad (Reddi et al. 2018) the largest v so far
/// takes the place of v in the last line. The state of a parameter is "step" (t), "exp_avg" (m),
/// "exp_avg_sq" (v) and, with amsgrad, "max_exp_avg_sq".
class Adam : public Optimizer {
 public:
  /// Throws std::invalid_argument if lr, eps or weight_decay is negative or NaN or a beta is
  /// outside [0, 1), and as add_param_group().
  explicit Adam(std::vector<Tensor> params, const AdamArguments& options = {});
  explicit Adam(std::vector<ParamGroup> groups, const AdamArguments& options = {});
  template <GroupLike Group>
  explicit Adam(const std::vector<Group>& groups, const AdamArguments& options = {})
      : Adam(std::vector<ParamGroup>(groups.begin(), groups.end()), options) {}
  /// libtorch's short form: `Adam(parameters, 0.1)` for {.lr = 0.1}.
  Adam(std::vector<Tensor> params, std::floating_point auto lr)
      : Adam(std::move(params), AdamArguments{.lr = lr}) {}

  bool is_elementwise() const override { return true; }

 protected:
  enum class Decay {
    into_gradient,  ///< g + weight_decay * p
    decoupled,      ///< p * (1 - lr * weight_decay)
  };
  Adam(std::string name, const AdamArguments& options, Decay decay);

 private:
  void check_options(const ParamGroup& group) const override;
  std::vector<StateEntry> state_entries(const ParamGroup& group) const override;
  bool add_step_counts(const ParamGroup& group, const detail::GroupOptions* options,
                       std::vector<detail::StepCount>& counts, Array& corrections) override;
  void update(const ParamGroup& group, const detail::GroupOptions* options,
              const StepControl& control) override;

  Decay decay_;
};

}  // namespace halfgrad::optim
