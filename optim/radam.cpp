#include <halfgrad/optim/radam.h>

#include <array>
#include <cmath>
#include <utility>

#include <halfgrad/core/math/math.h>
#include <halfgrad/optim/formula_update.h>

namespace halfgrad::optim {
namespace {

struct RAdamFormula {
  static constexpr unsigned kWrites = detail::kFormulaWrites;

  detail::GroupOptions options;
  double keep;
  double step_size;  // lr / bias_correction1, times r * sqrt(bias_correction2) if rectified
  bool is_rectified;

  HG_HD static RAdamFormula make(const detail::GroupOptions& options, double t) {
    const double power = std::pow(options.beta2, t), bias_correction2 = 1 - power;
    const double rho_inf = 2 / (1 - options.beta2) - 1;
    const double rho = rho_inf - 2 * t * power / bias_correction2;
    const double r =
        std::sqrt((rho - 4) * (rho - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho));
    const double rate = options.lr / (1 - std::pow(options.beta1, t));
    const bool is_rectified = rho > 5;
    return {options, detail::decay_factor(options),
            is_rectified ? rate * r * std::sqrt(bias_correction2) : rate, is_rectified};
  }

  template <class T>
  HG_HD void operator()(T& parameter, T gradient, T& m, T& v) const {
    const T g = detail::penalized(options, parameter, gradient);
    m = detail::move_toward(m, g, 1 - options.beta1);
    v = detail::average_square(v, g, options.beta2, 1 - options.beta2);
    const T direction = is_rectified ? m / (math::sqrt(v) + T(options.eps)) : m;
    parameter = math::multiply_add(T(keep), parameter, T(-step_size) * direction);
  }
};

ParamGroup to_group(const RAdamArguments& options) {
  return {.lr = options.lr,
          .betas = options.betas,
          .eps = options.eps,
          .weight_decay = options.weight_decay,
          .maximize = options.maximize,
          .decoupled_weight_decay = options.decoupled_weight_decay};
}

}  // namespace

RAdam::RAdam(std::vector<Tensor> params, const RAdamArguments& options)
    : FormulaOptimizer("RAdam", to_group(options)) {
  add_params(std::move(params));
}

RAdam::RAdam(std::vector<ParamGroup> groups, const RAdamArguments& options)
    : FormulaOptimizer("RAdam", to_group(options)) {
  add_param_groups(std::move(groups));
}

std::vector<StateEntry> RAdam::state_entries(const ParamGroup&) const {
  return {{"step"}, {"exp_avg"}, {"exp_avg_sq"}};
}

void RAdam::update(const ParamGroup& group, const detail::GroupOptions* options,
                   const StepControl& control) {
  detail::update_by<RAdamFormula>(*this, group, options, control,
                                  std::array{"exp_avg", "exp_avg_sq"});
}

}  // namespace halfgrad::optim
