#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/optim/own_options.h>

namespace halfgrad::optim {

class GroupOptions;  // compat/optim_options.h

/// Parameters of a group: `group.params`, or `group.params()` as in libtorch.
class ParamList : public std::vector<Tensor> {
 public:
  using std::vector<Tensor>::vector;
  ParamList(std::vector<Tensor> params) : std::vector<Tensor>(std::move(params)) {}
  std::vector<Tensor>& operator()() { return *this; }
  const std::vector<Tensor>& operator()() const { return *this; }
};

/// Parameters that share options, as in torch.optim. When the group is added, empty options take
/// the optimizer's own values; options that the optimizer does not have stay empty.
struct ParamGroup {
  ParamList params{};
  std::optional<double> lr{};
  std::optional<double> momentum{};
  std::optional<double> dampening{};
  std::optional<bool> nesterov{};
  std::optional<std::pair<double, double>> betas{};
  std::optional<double> eps{};
  std::optional<double> weight_decay{};
  std::optional<bool> amsgrad{};
  std::optional<bool> maximize{};
  std::optional<double> alpha{};
  std::optional<double> rho{};
  std::optional<bool> centered{};
  std::optional<double> lr_decay{};
  std::optional<double> initial_accumulator_value{};
  std::optional<double> momentum_decay{};
  std::optional<bool> decoupled_weight_decay{};
  std::optional<double> initial_lr{};  ///< set by the first learning-rate scheduler, or OneCycleLR

  /// Options of a class of your own, for an optimizer that has them (own_options.h). They hold the
  /// learning rate, too.
  detail::OwnOptions own_options{};
  /// Data that a binding of another language keeps with the group: options of Python that have no
  /// meaning here, such as a name. Copies of the group share it.
  std::shared_ptr<void> annotations{};

  /// The learning rate. Throws std::bad_optional_access before an optimizer has filled an empty
  /// one.
  double get_lr() const { return own_options ? own_options->get_lr() : lr.value(); }
  void set_lr(double new_lr) {
    lr = new_lr;
    if (own_options) own_options->set_lr(new_lr);
  }

  /// libtorch's spelling: `options().get_lr()` is `get_lr()`.
  GroupOptions options();
  GroupOptions options() const;
  bool has_options() const { return true; }
};

/// A type that converts to a ParamGroup, such as libtorch's OptimizerParamGroup.
template <class T>
concept GroupLike = std::convertible_to<T, ParamGroup> && !std::same_as<T, ParamGroup>;

}  // namespace halfgrad::optim
