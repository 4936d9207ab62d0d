#include <halfgrad/amp/inspector/parameter_names.h>

#include <iterator>

#include <halfgrad/amp/step_report.h>

namespace halfgrad::amp {

ParameterNames::ParameterNames(const NamedModel& model) : names_(1) {
  for (const auto& [name, parameter] : model.parameters()) names_.front().push_back(name);
}

ParameterNames::ParameterNames(const NamedModel& model,
                               const std::vector<const optim::Optimizer*>& optimizers) {
  for (const optim::Optimizer* optimizer : optimizers) {
    std::vector<std::string>& names = names_.emplace_back();
    for (const Tensor& parameter : optimizer->parameters()) {
      names.push_back(model.name_of(parameter));
    }
  }
}

std::string ParameterNames::of(std::int64_t optimizer, std::int64_t parameter) const {
  if (optimizer >= 0 && optimizer < std::ssize(names_)) {
    const std::vector<std::string>& names = names_[static_cast<std::size_t>(optimizer)];
    if (parameter >= 0 && parameter < std::ssize(names)) {
      const std::string& name = names[static_cast<std::size_t>(parameter)];
      if (!name.empty()) return name;
    }
  }
  return "parameter " + std::to_string(parameter);
}

std::string ParameterNames::first_bad(const StepReport& report) const {
  return of(report.optimizer, report.first_bad_parameter);
}

}  // namespace halfgrad::amp
