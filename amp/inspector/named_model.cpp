#include <halfgrad/amp/inspector/named_model.h>

#include <halfgrad/autograd/module_call.h>

namespace halfgrad::amp {

void NamedModel::add_parameter(const std::string& name, const Tensor& parameter) {
  parameters_.emplace_back(name, parameter);
  names_.emplace(parameter.impl().get(), name);
}

std::string NamedModel::name_of(const Tensor& tensor) const {
  const auto found = names_.find(tensor.impl().get());
  return found == names_.end() ? "" : found->second;
}

std::string NamedModel::running_module() const {
  for (const auto* call = detail::module_call; call != nullptr; call = call->outer()) {
    const auto found = modules_.find(call->module());
    if (found != modules_.end()) return found->second;
  }
  return "";
}

}  // namespace halfgrad::amp
