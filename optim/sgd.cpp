#include <halfgrad/optim/sgd.h>

#include <stdexcept>
#include <utility>

#include <halfgrad/optim/check_option.h>
#include <halfgrad/optim/parameter_update.h>

namespace halfgrad::optim {
namespace {

struct Formula {
  static constexpr unsigned kWrites = 0b101;

  SGDOptions options;
  double gradient_weight;

  template <class T>
  HG_HD T direction(T parameter, T gradient) const {
    const T g = options.maximize ? -gradient : gradient;
    return options.weight_decay != 0 ? g + T(options.weight_decay) * parameter : g;
  }

  template <class T>
  HG_HD void operator()(T& parameter, T gradient) const {
    parameter = parameter - T(options.lr) * direction(parameter, gradient);
  }

  template <class T>
  HG_HD void operator()(T& parameter, T gradient, T& buffer) const {
    const T g = direction(parameter, gradient);
    buffer = T(options.momentum) * buffer + T(gradient_weight) * g;
    const T update = options.nesterov ? g + T(options.momentum) * buffer : buffer;
    parameter = parameter - T(options.lr) * update;
  }
};

struct Plain {
  SGDOptions options;

  HG_HD Formula make() const { return {options, 1}; }
};

// The first update finds a buffer of zeros and a step count of one.
struct WithMomentum {
  SGDOptions options;
  const float* step;

  HG_HD Formula make() const { return {options, *step == 1 ? 1 : 1 - options.dampening}; }
};

ParamGroup to_group(const SGDOptions& options) {
  return {.lr = options.lr,
          .momentum = options.momentum,
          .dampening = options.dampening,
          .nesterov = options.nesterov,
          .weight_decay = options.weight_decay,
          .maximize = options.maximize};
}

SGDOptions options_of(const ParamGroup& group) {
  return {.lr = group.lr.value(),
          .momentum = group.momentum.value(),
          .dampening = group.dampening.value(),
          .weight_decay = group.weight_decay.value(),
          .nesterov = group.nesterov.value(),
          .maximize = group.maximize.value()};
}

}  // namespace

SGD::SGD(std::vector<Tensor> params, const SGDOptions& options)
    : Optimizer("SGD", to_group(options)) {
  add_params(std::move(params));
}

SGD::SGD(std::vector<ParamGroup> groups, const SGDOptions& options)
    : Optimizer("SGD", to_group(options)) {
  add_param_groups(std::move(groups));
}

void SGD::check_options(const ParamGroup& group) const {
  using detail::check_option;
  const SGDOptions o = options_of(group);
  check_option(o.lr >= 0, name(), "lr >= 0", o.lr);
  check_option(o.momentum >= 0, name(), "momentum >= 0", o.momentum);
  check_option(o.weight_decay >= 0, name(), "weight_decay >= 0", o.weight_decay);
  check_option(o.dampening == o.dampening, name(), "dampening to be a number", o.dampening);
  if (!o.nesterov) return;
  check_option(o.momentum > 0, name(), "momentum > 0 with nesterov", o.momentum);
  check_option(o.dampening == 0, name(), "dampening 0 with nesterov", o.dampening);
}

void SGD::update(const ParamGroup& group, const StepControl& control) {
  const SGDOptions options = options_of(group);
  std::vector<const Array*> steps;
  std::vector<detail::TensorUpdate<Plain, 2>> plain;
  std::vector<detail::TensorUpdate<WithMomentum, 3>> with_momentum;
  for (const Tensor& param : group.params) {
    const Array* const gradient = detail::gradient_of(param);
    if (gradient == nullptr) continue;
    if (options.momentum == 0) {
      plain.push_back({{options}, {&param.array(), gradient}});
    } else {
      ParamState& state = state_of(param);
      const Array& buffer = detail::moment(state, "momentum_buffer", param);
      steps.push_back(&detail::step_count(state, param));
      with_momentum.push_back(
          {{options, steps.back()->data_as<float>()}, {&param.array(), gradient, &buffer}});
    }
  }
  detail::count_steps(steps, control);
  detail::update_parameters(plain, control);
  detail::update_parameters(with_momentum, control);
}

}  // namespace halfgrad::optim
