#include <halfgrad/optim/adam.h>

#include <string>

#include <halfgrad/core/math/math.h>
#include <halfgrad/optim/formula_update.h>
#include <halfgrad/optim/parameter_update.h>
#include <halfgrad/optim/usual_options.h>

namespace halfgrad::optim {
namespace {

// The update of adam.h, with the names of Kingma and Ba 2015, section 2.
struct AdamFormula {
  static constexpr unsigned kWrites =
      detail::operands(detail::kParameter) | detail::operands_from(detail::kState);

  bool maximize;
  double weight_decay;  // times the parameter, added to the gradient; 0 if decoupled
  double keep;          // 1 - lr * weight_decay if decoupled, else 1: multiplies the parameter
  double beta1, beta2;
  double step_size;                  // lr / bias_correction1
  double inv_sqrt_bias_correction2;  // 1 / sqrt(bias_correction2)
  double eps;

  template <class T>
  HG_HD void update_moments(T parameter, T gradient, T& m, T& v) const {
    T g = maximize ? -gradient : gradient;
    if (weight_decay != 0) g = math::multiply_add(T(weight_decay), parameter, g);
    m = detail::move_toward(m, g, 1 - beta1);
    v = detail::average_square(v, g, beta2, 1 - beta2);
  }

  template <class T>
  HG_HD void move(T& parameter, T m, T v) const {
    const T denominator = math::multiply_add(math::sqrt(v), T(inv_sqrt_bias_correction2), T(eps));
    parameter = math::multiply_add(T(keep), parameter, -(T(step_size) * m / denominator));
  }

  template <class T>
  HG_HD void operator()(T& parameter, T gradient, T& m, T& v) const {
    update_moments(parameter, gradient, m, v);
    move(parameter, m, v);
  }

  // amsgrad
  template <class T>
  HG_HD void operator()(T& parameter, T gradient, T& m, T& v, T& max_v) const {
    update_moments(parameter, gradient, m, v);
    max_v = math::maximum(max_v, v);
    move(parameter, m, max_v);
  }
};

// Writes the bias corrections of update t, and t itself: once a parameter, since powers are slow.
//
//     bias_correction1 = 1 - beta1^t
//     bias_correction2 = 1 - beta2^t
struct BiasCorrectionFormula {
  static constexpr unsigned kWrites = detail::operands_from(0);
  static constexpr unsigned kReads = 0;

  double inv_bias_correction1;
  double inv_sqrt_bias_correction2;
  double t;

  template <class T>
  HG_HD void operator()(T& inv1, T& inv_sqrt2, T& count) const {
    inv1 = T(inv_bias_correction1);
    inv_sqrt2 = T(inv_sqrt_bias_correction2);
    count = T(t);
  }
};

struct BiasCorrectionUpdate {
  const detail::GroupOptions* options;
  const float* step;

  HG_HD BiasCorrectionFormula make() const {
    const double t = static_cast<double>(*step) + 1;
    return {.inv_bias_correction1 = detail::StepCount::inv_bias_correction1(*options, t),
            .inv_sqrt_bias_correction2 = detail::StepCount::inv_sqrt_bias_correction2(*options, t),
            .t = t};
  }
};

struct AdamUpdate {
  const detail::GroupOptions* options;
  bool decoupled;
  const double* inv_bias_correction1;
  const double* inv_sqrt_bias_correction2;

  HG_HD AdamFormula make() const {
    return {.maximize = options->maximize,
            .weight_decay = decoupled ? 0 : options->weight_decay,
            .keep = decoupled ? math::multiply_add(-options->lr, options->weight_decay, 1.0) : 1,
            .beta1 = options->beta1,
            .beta2 = options->beta2,
            .step_size = options->lr * *inv_bias_correction1,
            .inv_sqrt_bias_correction2 = *inv_sqrt_bias_correction2,
            .eps = options->eps};
  }
};

// Adds one to every parameter's step count. Returns its 1 / bias_correction1 and
// 1 / sqrt(bias_correction2): float64 [parameters, 2].
Array count_and_correct(const std::vector<const Array*>& steps, const detail::GroupOptions* options,
                        const StepControl& control) {
  const auto count = static_cast<std::int64_t>(steps.size());
  const Array corrections = Array::empty({count, 2}, DType::f64, steps[0]->device());
  std::vector<Array> elements;
  for (std::int64_t i = 0; i < count; ++i) {
    for (const std::int64_t which : {0, 1}) {
      elements.push_back(corrections.select(0, i).select(0, which));
    }
  }
  std::vector<detail::TensorUpdate<BiasCorrectionUpdate, 3>> updates;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    updates.push_back({{options, steps[i]->data_as<float>()},
                       {&elements[2 * i], &elements[2 * i + 1], steps[i]}});
  }
  detail::multi_tensor(updates, detail::skip_flag(control));
  return corrections;
}

ParamGroup to_group(const AdamArguments& options) {
  return {.lr = options.lr,
          .betas = options.betas,
          .eps = options.eps,
          .weight_decay = options.weight_decay,
          .amsgrad = options.amsgrad,
          .maximize = options.maximize};
}

}  // namespace

Adam::Adam(std::vector<Tensor> params, const AdamArguments& options)
    : Adam("Adam", options, Decay::into_gradient) {
  add_params(std::move(params));
}

Adam::Adam(std::vector<ParamGroup> groups, const AdamArguments& options)
    : Adam("Adam", options, Decay::into_gradient) {
  add_param_groups(std::move(groups));
}

Adam::Adam(std::string name, const AdamArguments& options, Decay decay)
    : Optimizer(std::move(name), to_group(options)), decay_(decay) {}

void Adam::check_options(const ParamGroup& group) const {
  detail::check_usual_options(name(), group);
}

std::vector<StateEntry> Adam::state_entries(const ParamGroup& group) const {
  return {{"step"}, {"exp_avg"}, {"exp_avg_sq"}, {"max_exp_avg_sq", group.amsgrad.value()}};
}

bool Adam::add_step_counts(const ParamGroup& group, const detail::GroupOptions* options,
                           std::vector<detail::StepCount>& counts, Array& corrections) {
  const std::vector<Tensor> params = detail::params_with_gradient(group);
  if (params.empty()) return true;
  corrections = Array::empty({std::ssize(params), 2}, DType::f64, params[0].device());
  auto* next = corrections.data_as<double>();
  for (const Tensor& param : params) {
    const Array& step = detail::step_count(state(param), param);
    counts.push_back({step.data_as<float>(), options, next});
    next += 2;
  }
  return true;
}

void Adam::update(const ParamGroup& group, const detail::GroupOptions* options,
                  const StepControl& control) {
  const std::vector<Tensor> params = detail::params_with_gradient(group);
  if (params.empty()) return;
  std::vector<const Array*> steps;
  for (const Tensor& param : params) steps.push_back(&detail::step_count(state(param), param));
  const Array corrections = control.corrections != nullptr
                                ? *control.corrections
                                : count_and_correct(steps, options, control);
  if (control.late != nullptr) control.late->add_constant(corrections);

  AdamUpdate update{options, decay_ == Decay::decoupled, corrections.data_as<double>(),
                    corrections.data_as<double>() + 1};
  detail::ParameterUpdates<AdamUpdate, 2> updates(control);
  detail::ParameterUpdates<AdamUpdate, 3> amsgrad_updates(control);
  for (const Tensor& param : params) {
    ParamState& moments = state(param);
    const Array& m = detail::moment(moments, "exp_avg", param);
    const Array& v = detail::moment(moments, "exp_avg_sq", param);
    if (group.amsgrad.value()) {
      const Array& max_v = detail::moment(moments, "max_exp_avg_sq", param);
      amsgrad_updates.add(param, moments, update, {&m, &v, &max_v});
    } else {
      updates.add(param, moments, update, {&m, &v});
    }
    update.inv_bias_correction1 += 2;
    update.inv_sqrt_bias_correction2 += 2;
  }
  updates.run();
  amsgrad_updates.run();
}

}  // namespace halfgrad::optim
