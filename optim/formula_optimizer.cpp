#include <halfgrad/optim/formula_optimizer.h>

#include <halfgrad/optim/parameter_update.h>
#include <halfgrad/optim/usual_options.h>

namespace halfgrad::optim {

void FormulaOptimizer::check_options(const ParamGroup& group) const {
  detail::check_usual_options(name(), group);
}

bool FormulaOptimizer::add_step_counts(const ParamGroup& group, const detail::GroupOptions* options,
                                       std::vector<detail::StepCount>& counts, Array&) {
  for (const Tensor& param : detail::params_with_gradient(group)) {
    counts.push_back({detail::step_count(state(param), param).data_as<float>(), options, nullptr});
  }
  return true;
}

}  // namespace halfgrad::optim
