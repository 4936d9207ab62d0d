#pragma once

#include <halfgrad/compat/names.h>

#include <concepts>
#include <memory>
#include <tuple>
#include <typeinfo>
#include <utility>
#include <vector>

#include <halfgrad/optim/optim.h>

/// libtorch's options of optimizers: `optim::SGD(parameters,
/// optim::SGDOptions(0.1).momentum(0.9))`. Each converts to the plain struct that the optimizer
/// takes. The options of a group of an optimizer are read and changed in the same form.
namespace halfgrad::optim {

/// The two betas, from libtorch's std::tuple or from a std::pair.
class Betas {
 public:
  Betas(double beta1, double beta2) : pair_(beta1, beta2) {}
  Betas(std::pair<double, double> pair) : pair_(pair) {}
  Betas(std::tuple<double, double> pair) : pair_(std::get<0>(pair), std::get<1>(pair)) {}
  operator std::pair<double, double>() const { return pair_; }
  operator std::tuple<double, double>() const { return {pair_.first, pair_.second}; }

 private:
  std::pair<double, double> pair_;
};

/// Base of the options of the library's optimizers. They are values of their own, or a view of a
/// group of an optimizer, which a change then reaches. A copy of a view has values of its own.
class NamedOptions : public OptimizerOptions {
 public:
  NamedOptions(const NamedOptions& other) : own_(other.group()) { own_.params.clear(); }
  NamedOptions& operator=(const NamedOptions& other);
  ~NamedOptions() override = default;
  double get_lr() const override { return *group().lr; }
  void set_lr(double lr) override { group().lr = lr; }
  ParamGroup with(std::vector<Tensor> params) const override;

 protected:
  explicit NamedOptions(ParamGroup own) : own_(std::move(own)) {}
  const ParamGroup& group() const { return view_of_ != nullptr ? *view_of_ : own_; }
  ParamGroup& group() { return view_of_ != nullptr ? *view_of_ : own_; }

 private:
  friend class GroupOptions;

  ParamGroup own_;  // without parameters
  ParamGroup* view_of_ = nullptr;
};

// NOLINTBEGIN(bugprone-macro-parentheses): a type and a name cannot be in parentheses
/// Declares libtorch's functions for the option `name` of a ParamGroup, as TORCH_ARG does for a
/// member.
#define HALFGRAD_GROUP_OPTION(T, name)                     \
  auto name(const T& new_##name)->decltype(*this) {        \
    group().name = new_##name;                             \
    return *this;                                          \
  }                                                        \
  const T& name() const noexcept { return *group().name; } \
  T& name() noexcept { return *group().name; }
#define HALFGRAD_BETAS_OPTION                           \
  auto betas(const Betas& new_betas)->decltype(*this) { \
    group().betas = new_betas;                          \
    return *this;                                       \
  }                                                     \
  std::tuple<double, double> betas() const noexcept { return Betas(*group().betas); }
// NOLINTEND(bugprone-macro-parentheses)

class SGDOptions : public OptimizerCloneableOptions<SGDOptions, NamedOptions> {
 public:
  SGDOptions(double lr)
      : OptimizerCloneableOptions(
            {.lr = lr, .momentum = 0, .dampening = 0, .nesterov = false, .weight_decay = 0}) {}
  operator SGDArguments() const {
    return {.lr = lr(),
            .momentum = momentum(),
            .dampening = dampening(),
            .weight_decay = weight_decay(),
            .nesterov = nesterov()};
  }
  HALFGRAD_GROUP_OPTION(double, lr)
  HALFGRAD_GROUP_OPTION(double, momentum)
  HALFGRAD_GROUP_OPTION(double, dampening)
  HALFGRAD_GROUP_OPTION(double, weight_decay)
  HALFGRAD_GROUP_OPTION(bool, nesterov)
};

class AdamOptions : public OptimizerCloneableOptions<AdamOptions, NamedOptions> {
 public:
  AdamOptions(double lr = 1e-3)
      : OptimizerCloneableOptions(
            {.lr = lr, .betas = {{0.9, 0.999}}, .eps = 1e-8, .weight_decay = 0, .amsgrad = false}) {
  }
  operator AdamArguments() const {
    return {.lr = lr(),
            .betas = Betas(betas()),
            .eps = eps(),
            .weight_decay = weight_decay(),
            .amsgrad = amsgrad()};
  }
  HALFGRAD_GROUP_OPTION(double, lr)
  HALFGRAD_BETAS_OPTION
  HALFGRAD_GROUP_OPTION(double, eps)
  HALFGRAD_GROUP_OPTION(double, weight_decay)
  HALFGRAD_GROUP_OPTION(bool, amsgrad)
};

class AdamWOptions : public OptimizerCloneableOptions<AdamWOptions, NamedOptions> {
 public:
  AdamWOptions(double lr = 1e-3)
      : OptimizerCloneableOptions({.lr = lr,
                                   .betas = {{0.9, 0.999}},
                                   .eps = 1e-8,
                                   .weight_decay = 1e-2,
                                   .amsgrad = false}) {}
  operator AdamWArguments() const {
    return {.lr = lr(),
            .betas = Betas(betas()),
            .eps = eps(),
            .weight_decay = weight_decay(),
            .amsgrad = amsgrad()};
  }
  HALFGRAD_GROUP_OPTION(double, lr)
  HALFGRAD_BETAS_OPTION
  HALFGRAD_GROUP_OPTION(double, eps)
  HALFGRAD_GROUP_OPTION(double, weight_decay)
  HALFGRAD_GROUP_OPTION(bool, amsgrad)
};

class RMSpropOptions : public OptimizerCloneableOptions<RMSpropOptions, NamedOptions> {
 public:
  RMSpropOptions(double lr = 1e-2)
      : OptimizerCloneableOptions({.lr = lr,
                                   .momentum = 0,
                                   .eps = 1e-8,
                                   .weight_decay = 0,
                                   .alpha = 0.99,
                                   .centered = false}) {}
  operator RMSpropArguments() const {
    return {.lr = lr(),
            .alpha = alpha(),
            .eps = eps(),
            .weight_decay = weight_decay(),
            .momentum = momentum(),
            .centered = centered()};
  }
  HALFGRAD_GROUP_OPTION(double, lr)
  HALFGRAD_GROUP_OPTION(double, alpha)
  HALFGRAD_GROUP_OPTION(double, eps)
  HALFGRAD_GROUP_OPTION(double, weight_decay)
  HALFGRAD_GROUP_OPTION(double, momentum)
  HALFGRAD_GROUP_OPTION(bool, centered)
};

class AdagradOptions : public OptimizerCloneableOptions<AdagradOptions, NamedOptions> {
 public:
  AdagradOptions(double lr = 1e-2)
      : OptimizerCloneableOptions({.lr = lr,
                                   .eps = 1e-10,
                                   .weight_decay = 0,
                                   .lr_decay = 0,
                                   .initial_accumulator_value = 0}) {}
  operator AdagradArguments() const {
    return {.lr = lr(),
            .lr_decay = lr_decay(),
            .weight_decay = weight_decay(),
            .initial_accumulator_value = initial_accumulator_value(),
            .eps = eps()};
  }
  HALFGRAD_GROUP_OPTION(double, lr)
  HALFGRAD_GROUP_OPTION(double, lr_decay)
  HALFGRAD_GROUP_OPTION(double, weight_decay)
  HALFGRAD_GROUP_OPTION(double, initial_accumulator_value)
  HALFGRAD_GROUP_OPTION(double, eps)
};

#undef HALFGRAD_GROUP_OPTION
#undef HALFGRAD_BETAS_OPTION

/// The result of `group.options()`: tells and takes the learning rate, and a cast gives all
/// options of the group's optimizer, or those of a class of your own:
///
///   static_cast<optim::AdamOptions&>(group.options()).lr(1e-4);
///
/// The cast throws std::invalid_argument for options that the group lacks. Its result may be used
/// until the optimizer ends or gets a new group.
class GroupOptions {
 public:
  explicit GroupOptions(ParamGroup& group) : group_(&group) {}
  double get_lr() const { return group_->get_lr(); }
  void set_lr(double lr) const { group_->set_lr(lr); }
  template <std::derived_from<OptimizerOptions> Options>
  requires(!std::derived_from<Options, NamedOptions>) operator Options&() const {
    if (auto* const options = dynamic_cast<Options*>(group_->own_options.get())) return *options;
    refuse_cast(typeid(Options));
  }
  operator SGDOptions&() const;
  operator AdamOptions&() const;
  operator AdamWOptions&() const;
  operator RMSpropOptions&() const;
  operator AdagradOptions&() const;

 private:
  template <class Options>
  Options& view(const char* name, bool has_options) const;
  [[noreturn]] void refuse_cast(const std::type_info& expected) const;

  ParamGroup* group_;
};
inline GroupOptions ParamGroup::options() { return GroupOptions(*this); }
inline GroupOptions ParamGroup::options() const {
  return GroupOptions(const_cast<ParamGroup&>(*this));  // NOLINT(*-const-cast): libtorch's promise
}

/// libtorch's group of parameters: converts to the one that optimizers take.
class OptimizerParamGroup {
 public:
  OptimizerParamGroup(std::vector<Tensor> params) : group_{.params = std::move(params)} {}
  template <class Options>
  OptimizerParamGroup(std::vector<Tensor> params, const std::unique_ptr<Options>& options)
      : group_(options->with(std::move(params))) {}
  operator ParamGroup() const { return group_; }
  bool has_options() const { return group_.own_options || group_.lr.has_value(); }
  GroupOptions options() { return group_.options(); }
  template <class Options>
  void set_options(const std::unique_ptr<Options>& options) {
    group_ = options->with(std::move(group_.params));
  }
  const std::vector<Tensor>& params() const { return group_.params; }
  std::vector<Tensor>& params() { return group_.params; }

 private:
  ParamGroup group_;
};

}  // namespace halfgrad::optim
