#include <halfgrad/optim/lamb.h>

#include <cstdint>
#include <deque>
#include <utility>

#include <halfgrad/autograd/norms.h>
#include <halfgrad/core/math/math.h>
#include <halfgrad/optim/formula_update.h>
#include <halfgrad/optim/state_update.h>

namespace halfgrad::optim {
namespace {

// The first pass: updates m and v, and stores r. The parameter is only read.
struct LAMBDirection {
  static constexpr unsigned kWrites = detail::operands_from(detail::kState);

  detail::GroupOptions options;
  double inv_bias_correction1, inv_sqrt_bias_correction2;

  HG_HD static LAMBDirection make(const detail::GroupOptions& options, double t) {
    return {options, detail::StepCount::inv_bias_correction1(options, t),
            detail::StepCount::inv_sqrt_bias_correction2(options, t)};
  }

  template <class T>
  HG_HD void operator()(T parameter, T gradient, T& m, T& v, T& r) const {
    const T g = options.maximize ? -gradient : gradient;
    m = detail::move_toward(m, g, 1 - options.beta1);
    v = detail::average_square(v, g, options.beta2, 1 - options.beta2);
    const T denominator =
        math::multiply_add(math::sqrt(v), T(inv_sqrt_bias_correction2), T(options.eps));
    r = math::multiply_add(T(options.weight_decay), parameter,
                           T(inv_bias_correction1) * m / denominator);
  }
};

// The second pass, when the norms of p and r are known.
struct LAMBFormula {
  static constexpr unsigned kWrites = detail::operands(detail::kParameter);

  double step_size;

  template <class T>
  HG_HD void operator()(T& parameter, T, T r) const {
    parameter = math::multiply_add(T(-step_size), r, parameter);
  }
};

struct LAMBUpdate {
  const detail::GroupOptions* options;
  const double* norms;  // |p| and |r|

  HG_HD LAMBFormula make() const {
    const bool has_ratio = norms[0] > 0 && norms[1] > 0;
    return {options->lr * (has_ratio ? norms[0] / norms[1] : 1)};
  }
};

// The arrays of one parameter's update; `parameter` is its master if it has one.
struct Operands {
  Array parameter, r;
};

// Norms are computed in float32 at least: those of 16-bit tensors could overflow.
Array at_least_f32(const Array& array) {
  return item_size(array.dtype()) < 4 ? array.to(DType::f32) : array;
}

ParamGroup to_group(const LAMBArguments& options) {
  return {.lr = options.lr,
          .betas = options.betas,
          .eps = options.eps,
          .weight_decay = options.weight_decay,
          .maximize = options.maximize};
}

}  // namespace

LAMB::LAMB(std::vector<Tensor> params, const LAMBArguments& options)
    : FormulaOptimizer("LAMB", to_group(options)) {
  add_params(std::move(params));
}

LAMB::LAMB(std::vector<ParamGroup> groups, const LAMBArguments& options)
    : FormulaOptimizer("LAMB", to_group(options)) {
  add_param_groups(std::move(groups));
}

std::vector<StateEntry> LAMB::state_entries(const ParamGroup&) const {
  return {{"step"}, {"exp_avg"}, {"exp_avg_sq"}};
}

void LAMB::update(const ParamGroup& group, const detail::GroupOptions* options,
                  const StepControl& control) {
  const std::vector<Tensor> params = detail::params_with_gradient(group);
  if (params.empty()) return;
  std::deque<Operands> operands;
  std::vector<const Array*> steps;
  detail::StateUpdates<detail::FormulaUpdate<LAMBDirection>, 3> directions(control);
  for (const Tensor& param : params) {
    ParamState& moments = state(param);
    const auto master = moments.find(detail::kMaster);
    const Array parameter = master != moments.end() ? master->second : param.array();
    const DType dtype = item_size(parameter.dtype()) < 4 ? DType::f32 : parameter.dtype();
    const Operands& o = operands.emplace_back(
        Operands{parameter,
                 Array::full(param.sizes(), 0, dtype, param.device())});  // zeros in a skipped step
    steps.push_back(&detail::step_count(moments, param));
    directions.add(param, o.parameter, {options, steps.back()->data_as<float>()},
                   {&detail::moment(moments, "exp_avg", param),
                    &detail::moment(moments, "exp_avg_sq", param), &o.r});
  }
  if (control.corrections == nullptr) detail::count_steps(steps, control);
  directions.run();

  std::vector<Array> normed;
  for (const Operands& o : operands) {
    normed.push_back(at_least_f32(o.parameter));
    normed.push_back(o.r);
  }
  const Array norms = Array::empty({std::ssize(normed)}, DType::f64, params[0].device());
  detail::store_norms(norms, normed, 2);

  const double* next = norms.data_as<double>();
  const StepControl unscaled{.found_inf = control.found_inf};  // the first pass used the factors
  detail::ParameterUpdates<LAMBUpdate, 1> updates(unscaled);
  for (std::size_t i = 0; i < params.size(); ++i, next += 2) {
    updates.add(params[i], state(params[i]), {options, next}, {&operands[i].r});
  }
  updates.run();
}

}  // namespace halfgrad::optim
