#include <halfgrad/optim/sgd.h>

#include <stdexcept>
#include <utility>

#include <halfgrad/core/math/math.h>
#include <halfgrad/optim/check_option.h>
#include <halfgrad/optim/formula_update.h>
#include <halfgrad/optim/parameter_update.h>

namespace halfgrad::optim {
namespace {

struct SGDFormula {
  static constexpr unsigned kWrites = detail::operands(detail::kParameter, detail::kState);

  detail::GroupOptions options;
  double gradient_weight;

  template <class T>
  HG_HD void operator()(T& parameter, T gradient) const {
    const T g = detail::penalized(options, parameter, gradient);
    parameter = math::multiply_add(T(-options.lr), g, parameter);
  }

  template <class T>
  HG_HD void operator()(T& parameter, T gradient, T& buffer) const {
    const T g = detail::penalized(options, parameter, gradient);
    buffer = math::multiply_add(T(options.momentum), buffer, T(gradient_weight) * g);
    const T update = options.nesterov ? math::multiply_add(T(options.momentum), buffer, g) : buffer;
    parameter = math::multiply_add(T(-options.lr), update, parameter);
  }
};

// With momentum a parameter's first update sees a buffer of zeros and a step count of one.
struct SGDUpdate {
  const detail::GroupOptions* options;
  const float* step;  // null without momentum

  HG_HD SGDFormula make() const {
    const bool first = step == nullptr || *step == 1;
    return {*options, first ? 1 : 1 - options->dampening};
  }
};

ParamGroup to_group(const SGDArguments& options) {
  return {.lr = options.lr,
          .momentum = options.momentum,
          .dampening = options.dampening,
          .nesterov = options.nesterov,
          .weight_decay = options.weight_decay,
          .maximize = options.maximize};
}

SGDArguments sgd_options(const ParamGroup& group) {
  return {.lr = group.lr.value(),
          .momentum = group.momentum.value(),
          .dampening = group.dampening.value(),
          .weight_decay = group.weight_decay.value(),
          .nesterov = group.nesterov.value(),
          .maximize = group.maximize.value()};
}

}  // namespace

SGD::SGD(std::vector<Tensor> params, const SGDArguments& options)
    : Optimizer("SGD", to_group(options)) {
  add_params(std::move(params));
}

SGD::SGD(std::vector<ParamGroup> groups, const SGDArguments& options)
    : Optimizer("SGD", to_group(options)) {
  add_param_groups(std::move(groups));
}

void SGD::check_options(const ParamGroup& group) const {
  using detail::check_option;
  const SGDArguments o = sgd_options(group);
  check_option(o.lr >= 0, name(), "lr >= 0", o.lr);
  check_option(o.momentum >= 0, name(), "momentum >= 0", o.momentum);
  check_option(o.weight_decay >= 0, name(), "weight_decay >= 0", o.weight_decay);
  check_option(o.dampening == o.dampening, name(), "dampening to be a number", o.dampening);
  if (!o.nesterov) return;
  check_option(o.momentum > 0, name(), "momentum > 0 with nesterov", o.momentum);
  check_option(o.dampening == 0, name(), "dampening 0 with nesterov", o.dampening);
}

// A parameter without momentum has neither entry, unless momentum was set to 0 after some updates.
// PyTorch saves the buffer alone. A step count of 1 stands in for the missing one: the formula
// depends only on whether a first update was made.
std::vector<StateEntry> SGD::state_entries(const ParamGroup&) const {
  return {{.name = "step", .if_missing = 1}, {.name = "momentum_buffer"}};
}

bool SGD::add_step_counts(const ParamGroup& group, const detail::GroupOptions* options,
                          std::vector<detail::StepCount>& counts, Array&) {
  for (const Tensor& param : detail::params_with_gradient(group)) {
    const bool is_counted = group.momentum.value() != 0;
    float* const step =
        is_counted ? detail::step_count(state(param), param).data_as<float>() : nullptr;
    counts.push_back({step, options, nullptr});
  }
  return true;
}

void SGD::update(const ParamGroup& group, const detail::GroupOptions* options,
                 const StepControl& control) {
  std::vector<const Array*> steps;
  detail::ParameterUpdates<SGDUpdate, 0> plain(control);
  detail::ParameterUpdates<SGDUpdate, 1> with_momentum(control);
  for (const Tensor& param : detail::params_with_gradient(group)) {
    ParamState& moments = state(param);
    if (group.momentum.value() == 0) {
      plain.add(param, moments, {options, nullptr}, {});
    } else {
      const Array& buffer = detail::moment(moments, "momentum_buffer", param);
      const Array& step = detail::step_count(moments, param);
      steps.push_back(&step);
      with_momentum.add(param, moments, {options, step.data_as<float>()}, {&buffer});
    }
  }
  if (control.corrections == nullptr) detail::count_steps(steps, control);
  plain.run();
  with_momentum.run();
}

}  // namespace halfgrad::optim
