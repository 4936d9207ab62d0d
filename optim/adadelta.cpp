#include <halfgrad/optim/adadelta.h>

#include <array>
#include <utility>

#include <halfgrad/core/math/math.h>
#include <halfgrad/optim/check_option.h>
#include <halfgrad/optim/formula_update.h>

namespace halfgrad::optim {
namespace {

struct AdadeltaFormula {
  static constexpr unsigned kWrites = detail::kFormulaWrites;

  detail::GroupOptions options;

  HG_HD static AdadeltaFormula make(const detail::GroupOptions& options, double) {
    return {options};
  }

  template <class T>
  HG_HD void operator()(T& parameter, T gradient, T& v, T& u) const {
    const T g = detail::penalized(options, parameter, gradient);
    v = detail::average_square(v, g, options.rho, 1 - options.rho);
    const T eps(options.eps);
    const T delta = math::sqrt(u + eps) / math::sqrt(v + eps) * g;
    u = detail::average_square(u, delta, options.rho, 1 - options.rho);
    parameter = math::multiply_add(T(-options.lr), delta, parameter);
  }
};

ParamGroup to_group(const AdadeltaArguments& options) {
  return {.lr = options.lr,
          .eps = options.eps,
          .weight_decay = options.weight_decay,
          .maximize = options.maximize,
          .rho = options.rho};
}

}  // namespace

Adadelta::Adadelta(std::vector<Tensor> params, const AdadeltaArguments& options)
    : FormulaOptimizer("Adadelta", to_group(options)) {
  add_params(std::move(params));
}

Adadelta::Adadelta(std::vector<ParamGroup> groups, const AdadeltaArguments& options)
    : FormulaOptimizer("Adadelta", to_group(options)) {
  add_param_groups(std::move(groups));
}

void Adadelta::check_options(const ParamGroup& group) const {
  FormulaOptimizer::check_options(group);
  const double rho = group.rho.value();
  detail::check_option(rho >= 0 && rho <= 1, name(), "rho in [0, 1]", rho);
}

std::vector<StateEntry> Adadelta::state_entries(const ParamGroup&) const {
  return {{"step"}, {"square_avg"}, {"acc_delta"}};
}

void Adadelta::update(const ParamGroup& group, const detail::GroupOptions* options,
                      const StepControl& control) {
  detail::update_by<AdadeltaFormula>(*this, group, options, control,
                                     std::array{"square_avg", "acc_delta"});
}

}  // namespace halfgrad::optim
