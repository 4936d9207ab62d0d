#include <halfgrad/optim/lion.h>

#include <array>
#include <utility>

#include <halfgrad/core/math/math.h>
#include <halfgrad/optim/formula_update.h>

namespace halfgrad::optim {
namespace {

struct LionFormula {
  static constexpr unsigned kWrites = detail::kFormulaWrites;

  detail::GroupOptions options;

  HG_HD static LionFormula make(const detail::GroupOptions& options, double) { return {options}; }

  template <class T>
  HG_HD void operator()(T& parameter, T gradient, T& m) const {
    const T g = options.maximize ? -gradient : gradient;
    const T c = detail::move_toward(m, g, 1 - options.beta1);
    // 0 and NaN stay as they are.
    const T sign = select(c > T(0), T(1), select(c < T(0), T(-1), c));
    const T direction = math::multiply_add(T(options.weight_decay), parameter, sign);
    parameter = math::multiply_add(T(-options.lr), direction, parameter);
    m = detail::move_toward(m, g, 1 - options.beta2);
  }
};

ParamGroup to_group(const LionArguments& options) {
  return {.lr = options.lr,
          .betas = options.betas,
          .weight_decay = options.weight_decay,
          .maximize = options.maximize};
}

}  // namespace

Lion::Lion(std::vector<Tensor> params, const LionArguments& options)
    : FormulaOptimizer("Lion", to_group(options)) {
  add_params(std::move(params));
}

Lion::Lion(std::vector<ParamGroup> groups, const LionArguments& options)
    : FormulaOptimizer("Lion", to_group(options)) {
  add_param_groups(std::move(groups));
}

std::vector<StateEntry> Lion::state_entries(const ParamGroup&) const {
  return {{.name = "step", .if_missing = 1}, {"exp_avg"}};
}

void Lion::update(const ParamGroup& group, const detail::GroupOptions* options,
                  const StepControl& control) {
  detail::update_by<LionFormula>(*this, group, options, control, std::array{"exp_avg"});
}

}  // namespace halfgrad::optim
