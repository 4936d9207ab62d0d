#include <halfgrad/optim/nadam.h>

#include <cmath>
#include <utility>

#include <halfgrad/core/math/math.h>
#include <halfgrad/optim/check_option.h>
#include <halfgrad/optim/formula_update.h>
#include <halfgrad/optim/usual_options.h>

namespace halfgrad::optim {
namespace {

HG_HD double mu(const detail::GroupOptions& options, double t) {
  return options.beta1 * (1 - 0.5 * std::pow(0.96, t * options.momentum_decay));
}

// Advances the step count and, in float32 as PyTorch does, the product of mu(1) to mu(t).
struct CountFormula {
  static constexpr unsigned kWrites = detail::operands(0, 1);

  double t, mu;

  template <class T>
  HG_HD void operator()(T& count, T& product) const {
    count = T(t);
    product = product * T(mu);
  }
};

struct CountUpdate {
  const detail::GroupOptions* options;
  const float* step;

  HG_HD CountFormula make() const {
    const double t = static_cast<double>(*step) + 1;
    return {t, mu(*options, t)};
  }
};

struct NAdamFormula {
  static constexpr unsigned kWrites = detail::kFormulaWrites;

  detail::GroupOptions options;
  double keep, inv_sqrt_bias_correction2;
  double gradient_weight, m_weight;

  template <class T>
  HG_HD void operator()(T& parameter, T gradient, T& m, T& v) const {
    const T g = detail::penalized(options, parameter, gradient);
    m = detail::move_toward(m, g, 1 - options.beta1);
    v = detail::average_square(v, g, options.beta2, 1 - options.beta2);
    const T denominator =
        math::multiply_add(math::sqrt(v), T(inv_sqrt_bias_correction2), T(options.eps));
    const T direction = math::multiply_add(T(gradient_weight), g, T(m_weight) * m);
    parameter = math::multiply_add(T(keep), parameter, -direction / denominator);
  }
};

struct NAdamUpdate {
  const detail::GroupOptions* options;
  const float* step;
  const float* mu_product;

  HG_HD NAdamFormula make() const {
    const double t = static_cast<double>(*step), product = static_cast<double>(*mu_product);
    const double next = mu(*options, t + 1);
    return {.options = *options,
            .keep = detail::decay_factor(*options),
            .inv_sqrt_bias_correction2 = detail::StepCount::inv_sqrt_bias_correction2(*options, t),
            .gradient_weight = options->lr * (1 - mu(*options, t)) / (1 - product),
            .m_weight = options->lr * next / (1 - product * next)};
  }
};

ParamGroup to_group(const NAdamArguments& options) {
  return {.lr = options.lr,
          .betas = options.betas,
          .eps = options.eps,
          .weight_decay = options.weight_decay,
          .maximize = options.maximize,
          .momentum_decay = options.momentum_decay,
          .decoupled_weight_decay = options.decoupled_weight_decay};
}

}  // namespace

NAdam::NAdam(std::vector<Tensor> params, const NAdamArguments& options)
    : Optimizer("NAdam", to_group(options)) {
  add_params(std::move(params));
}

NAdam::NAdam(std::vector<ParamGroup> groups, const NAdamArguments& options)
    : Optimizer("NAdam", to_group(options)) {
  add_param_groups(std::move(groups));
}

void NAdam::check_options(const ParamGroup& group) const {
  detail::check_usual_options(name(), group);
  detail::check_option(group.momentum_decay >= 0, name(), "momentum_decay >= 0",
                       group.momentum_decay.value());
}

std::vector<StateEntry> NAdam::state_entries(const ParamGroup&) const {
  return {{"step"},
          {.name = "mu_product", .sizes = StateEntry::Sizes::scalar},
          {"exp_avg"},
          {"exp_avg_sq"}};
}

void NAdam::update(const ParamGroup& group, const detail::GroupOptions* options,
                   const StepControl& control) {
  std::vector<detail::TensorUpdate<CountUpdate, 2>> counts;
  detail::ParameterUpdates<NAdamUpdate, 2> updates(control);
  for (const Tensor& param : detail::params_with_gradient(group)) {
    ParamState& moments = state(param);
    const Array& step = detail::step_count(moments, param);
    Array& product = moments["mu_product"];
    if (!product.defined()) product = Array::full({}, 1, DType::f32, param.device());
    counts.push_back({{options, step.data_as<float>()}, {&step, &product}});
    updates.add(param, moments, {options, step.data_as<float>(), product.data_as<float>()},
                {&detail::moment(moments, "exp_avg", param),
                 &detail::moment(moments, "exp_avg_sq", param)});
  }
  detail::multi_tensor(counts, detail::skip_flag(control));
  updates.run();
}

}  // namespace halfgrad::optim
