#include <halfgrad/optim/adagrad.h>

#include <array>
#include <utility>

#include <halfgrad/core/math/math.h>
#include <halfgrad/optim/check_option.h>
#include <halfgrad/optim/formula_update.h>

namespace halfgrad::optim {
namespace {

struct AdagradFormula {
  static constexpr unsigned kWrites = detail::kFormulaWrites;

  detail::GroupOptions options;
  double lr;

  HG_HD static AdagradFormula make(const detail::GroupOptions& options, double t) {
    return {options, options.lr / math::multiply_add(t - 1, options.lr_decay, 1.0)};
  }

  template <class T>
  HG_HD void operator()(T& parameter, T gradient, T& sum) const {
    const T g = detail::penalized(options, parameter, gradient);
    sum = math::multiply_add(g, g, sum);
    parameter = parameter - T(lr) * g / (math::sqrt(sum) + T(options.eps));
  }
};

ParamGroup to_group(const AdagradArguments& options) {
  return {.lr = options.lr,
          .eps = options.eps,
          .weight_decay = options.weight_decay,
          .maximize = options.maximize,
          .lr_decay = options.lr_decay,
          .initial_accumulator_value = options.initial_accumulator_value};
}

}  // namespace

Adagrad::Adagrad(std::vector<Tensor> params, const AdagradArguments& options)
    : FormulaOptimizer("Adagrad", to_group(options)) {
  add_params(std::move(params));
}

Adagrad::Adagrad(std::vector<ParamGroup> groups, const AdagradArguments& options)
    : FormulaOptimizer("Adagrad", to_group(options)) {
  add_param_groups(std::move(groups));
}

void Adagrad::check_options(const ParamGroup& group) const {
  FormulaOptimizer::check_options(group);
  detail::check_option(group.lr_decay >= 0, name(), "lr_decay >= 0", group.lr_decay.value());
  detail::check_option(group.initial_accumulator_value >= 0, name(),
                       "initial_accumulator_value >= 0", group.initial_accumulator_value.value());
}

std::vector<StateEntry> Adagrad::state_entries(const ParamGroup&) const {
  return {{"step"}, {"sum"}};
}

void Adagrad::update(const ParamGroup& group, const detail::GroupOptions* options,
                     const StepControl& control) {
  detail::update_by<AdagradFormula>(*this, group, options, control, std::array{"sum"},
                                    group.initial_accumulator_value.value());
}

}  // namespace halfgrad::optim
