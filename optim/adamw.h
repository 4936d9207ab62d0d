#pragma once

#include <concepts>
#include <utility>
#include <vector>

#include <halfgrad/core/plain_names.h>
#include <halfgrad/optim/adam.h>

namespace halfgrad::optim {

/// AdamArguments with another default. It is not derived from them, because designated initialisers
/// cannot name members of a base class.
struct AdamWArguments {
  double lr = 1e-3;
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 1e-2;
  bool amsgrad = false;
  bool maximize = false;
};
HALFGRAD_PLAIN_NAME(AdamWOptions, AdamWArguments)

/// Adam with decoupled weight decay (Loshchilov and Hutter 2019), as torch.optim.AdamW: weight
/// decay leaves the gradient alone, and p * (1 - lr * weight_decay) takes the place of p.
class AdamW : public Adam {
 public:
  explicit AdamW(std::vector<Tensor> params, const AdamWArguments& options = {});
  explicit AdamW(std::vector<ParamGroup> groups, const AdamWArguments& options = {});
  template <GroupLike Group>
  explicit AdamW(const std::vector<Group>& groups, const AdamWArguments& options = {})
      : AdamW(std::vector<ParamGroup>(groups.begin(), groups.end()), options) {}
  /// libtorch's short form: `AdamW(parameters, 0.1)` for {.lr = 0.1}.
  AdamW(std::vector<Tensor> params, std::floating_point auto lr)
      : AdamW(std::move(params), AdamWArguments{.lr = lr}) {}
};

}  // namespace halfgrad::optim
