#include <halfgrad/optim/adam.h>

#include <cmath>
#include <string>

#include <halfgrad/core/math.h>
#include <halfgrad/optim/check_option.h>
#include <halfgrad/optim/parameter_update.h>

namespace halfgrad::optim {
namespace {

struct Formula {
  static constexpr unsigned kWrites = 0b11101;

  bool maximize;
  double weight_decay;  // into the gradient
  double keep;          // what decoupled decay leaves of the parameter
  double beta1, beta2;
  double step_size;   // lr / (1 - beta1^t)
  double correction;  // 1 / sqrt(1 - beta2^t)
  double eps;

  template <class T>
  HG_HD T direction(T parameter, T gradient) const {
    const T g = maximize ? -gradient : gradient;
    return weight_decay != 0 ? g + T(weight_decay) * parameter : g;
  }

  // a + weight * (b - a), from the nearer end.
  template <class T>
  HG_HD static T lerp(T a, T b, double weight) {
    return weight < 0.5 ? a + T(weight) * (b - a) : b - T(1 - weight) * (b - a);
  }

  template <class T>
  HG_HD void move(T& parameter, T average, T square) const {
    parameter = T(keep) * parameter -
                T(step_size) * average / (math::sqrt(square) * T(correction) + T(eps));
  }

  template <class T>
  HG_HD void operator()(T& parameter, T gradient, T& average, T& square) const {
    const T g = direction(parameter, gradient);
    average = lerp(average, g, 1 - beta1);
    square = T(beta2) * square + T(1 - beta2) * g * g;
    move(parameter, average, square);
  }

  template <class T>
  HG_HD void operator()(T& parameter, T gradient, T& average, T& square, T& largest) const {
    const T g = direction(parameter, gradient);
    average = lerp(average, g, 1 - beta1);
    square = T(beta2) * square + T(1 - beta2) * g * g;
    largest = math::maximum(largest, square);
    move(parameter, average, largest);
  }
};

struct Update {
  AdamOptions options;
  bool decoupled;
  const float* step;

  HG_HD Formula make() const {
    const auto [beta1, beta2] = options.betas;
    const auto t = static_cast<double>(*step);
    return {.maximize = options.maximize,
            .weight_decay = decoupled ? 0 : options.weight_decay,
            .keep = decoupled ? 1 - options.lr * options.weight_decay : 1,
            .beta1 = beta1,
            .beta2 = beta2,
            .step_size = options.lr / (1 - std::pow(beta1, t)),
            .correction = 1 / std::sqrt(1 - std::pow(beta2, t)),
            .eps = options.eps};
  }
};

ParamGroup to_group(const AdamOptions& options) {
  return {.lr = options.lr,
          .betas = options.betas,
          .eps = options.eps,
          .weight_decay = options.weight_decay,
          .amsgrad = options.amsgrad,
          .maximize = options.maximize};
}

AdamOptions options_of(const ParamGroup& group) {
  return {.lr = group.lr.value(),
          .betas = group.betas.value(),
          .eps = group.eps.value(),
          .weight_decay = group.weight_decay.value(),
          .amsgrad = group.amsgrad.value(),
          .maximize = group.maximize.value()};
}

}  // namespace

Adam::Adam(std::vector<Tensor> params, const AdamOptions& options)
    : Adam("Adam", options, Decay::into_gradient) {
  add_params(std::move(params));
}

Adam::Adam(std::vector<ParamGroup> groups, const AdamOptions& options)
    : Adam("Adam", options, Decay::into_gradient) {
  add_param_groups(std::move(groups));
}

Adam::Adam(std::string name, const AdamOptions& options, Decay decay)
    : Optimizer(std::move(name), to_group(options)), decay_(decay) {}

void Adam::check_options(const ParamGroup& group) const {
  using detail::check_option;
  const AdamOptions o = options_of(group);
  const auto [beta1, beta2] = o.betas;
  check_option(o.lr >= 0, name(), "lr >= 0", o.lr);
  check_option(o.eps >= 0, name(), "eps >= 0", o.eps);
  check_option(beta1 >= 0 && beta1 < 1, name(), "betas.first in [0, 1)", beta1);
  check_option(beta2 >= 0 && beta2 < 1, name(), "betas.second in [0, 1)", beta2);
  check_option(o.weight_decay >= 0, name(), "weight_decay >= 0", o.weight_decay);
}

void Adam::update(const ParamGroup& group, const StepControl& control) {
  const AdamOptions options = options_of(group);
  std::vector<const Array*> steps;
  std::vector<detail::TensorUpdate<Update, 4>> updates;
  std::vector<detail::TensorUpdate<Update, 5>> amsgrad_updates;
  for (const Tensor& param : group.params) {
    const Array* const gradient = detail::gradient_of(param);
    if (gradient == nullptr) continue;
    ParamState& state = state_of(param);
    const Array& average = detail::moment(state, "exp_avg", param);
    const Array& square = detail::moment(state, "exp_avg_sq", param);
    steps.push_back(&detail::step_count(state, param));
    const Update update{options, decay_ == Decay::decoupled, steps.back()->data_as<float>()};
    if (options.amsgrad) {
      const Array& largest = detail::moment(state, "max_exp_avg_sq", param);
      amsgrad_updates.push_back({update, {&param.array(), gradient, &average, &square, &largest}});
    } else {
      updates.push_back({update, {&param.array(), gradient, &average, &square}});
    }
  }
  detail::count_steps(steps, control);
  detail::update_parameters(updates, control);
  detail::update_parameters(amsgrad_updates, control);
}

}  // namespace halfgrad::optim
