#include <halfgrad/optim/adamax.h>

#include <array>
#include <cmath>
#include <utility>

#include <halfgrad/core/math/math.h>
#include <halfgrad/optim/formula_update.h>

namespace halfgrad::optim {
namespace {

struct AdamaxFormula {
  static constexpr unsigned kWrites = detail::kFormulaWrites;

  detail::GroupOptions options;
  double step_size;

  HG_HD static AdamaxFormula make(const detail::GroupOptions& options, double t) {
    return {options, options.lr / (1 - std::pow(options.beta1, t))};
  }

  template <class T>
  HG_HD void operator()(T& parameter, T gradient, T& m, T& u) const {
    const T g = detail::penalized(options, parameter, gradient);
    m = detail::move_toward(m, g, 1 - options.beta1);
    u = math::maximum(T(options.beta2) * u, math::abs(g) + T(options.eps));
    parameter = parameter - T(step_size) * m / u;
  }
};

ParamGroup to_group(const AdamaxArguments& options) {
  return {.lr = options.lr,
          .betas = options.betas,
          .eps = options.eps,
          .weight_decay = options.weight_decay,
          .maximize = options.maximize};
}

}  // namespace

Adamax::Adamax(std::vector<Tensor> params, const AdamaxArguments& options)
    : FormulaOptimizer("Adamax", to_group(options)) {
  add_params(std::move(params));
}

Adamax::Adamax(std::vector<ParamGroup> groups, const AdamaxArguments& options)
    : FormulaOptimizer("Adamax", to_group(options)) {
  add_param_groups(std::move(groups));
}

std::vector<StateEntry> Adamax::state_entries(const ParamGroup&) const {
  return {{"step"}, {"exp_avg"}, {"exp_inf"}};
}

void Adamax::update(const ParamGroup& group, const detail::GroupOptions* options,
                    const StepControl& control) {
  detail::update_by<AdamaxFormula>(*this, group, options, control,
                                   std::array{"exp_avg", "exp_inf"});
}

}  // namespace halfgrad::optim
