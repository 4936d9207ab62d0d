#include <ostream>
#include <stdexcept>
#include <utility>

#include <halfgrad/compat/module_dict.h>
#include <halfgrad/compat/module_list.h>
#include <halfgrad/compat/parameter_list.h>

namespace halfgrad::nn {
namespace {

Tensor copy_of(const Tensor& tensor, const std::optional<Device>& device) {
  return Tensor(tensor.array().to(device.value_or(tensor.device())).clone())
      .requires_grad_(tensor.requires_grad());
}

// "ParameterList((0): float32 [2], (1): float32 [3])"
void print_contents(std::ostream& out, const Module& list) {
  out << list.name() << '(';
  bool first = true;
  for (const auto& [name, parameter] : list.named_parameters()) {
    if (!std::exchange(first, false)) out << ", ";
    out << '(' << name << "): " << parameter.dtype() << ' ' << to_string(parameter.sizes());
  }
  out << ')';
}

}  // namespace

std::shared_ptr<Module> ModuleList::ptr(std::size_t index) const {
  if (index < size()) return (*modules_)[index];
  halfgrad::detail::fail<std::out_of_range>(
      "ModuleList", "Index out of range: expected a position in [0, {}), got {}", size(), index);
}

void ModuleList::insert_shared(std::size_t index, std::shared_ptr<Module> module) {
  if (index > size()) {
    halfgrad::detail::fail<std::out_of_range>("ModuleList", "expected a position up to {}, got {}",
                                              size(), index);
  }
  register_module(std::to_string(size()), module);  // throws before anything changes
  modules_->insert(modules_->begin() + static_cast<std::ptrdiff_t>(index), module);
  // The modules from `index` on move up by one name.
  for (std::size_t i = index; i < size(); ++i) {
    replace_module(std::to_string(i), (*modules_)[i]);
  }
}

ModuleDict::ModuleDict(const std::vector<NamedModule>& modules) : ModuleDict() { update(modules); }

std::shared_ptr<Module> ModuleDict::clone(const std::optional<Device>& device) const {
  const auto copy = std::make_shared<ModuleDict>();
  for (const auto& [name, module] : *items_) copy->set(name, module->clone(device));
  copy->train(is_training());
  return copy;
}

void ModuleDict::set(const std::string& key, const std::shared_ptr<Module>& module) {
  if (std::shared_ptr<Module>* known = items_->find(key)) {
    *known = replace_module(key, module);
  } else {
    items_->insert(key, register_module(key, module));
  }
}

void ModuleDict::update(const std::vector<NamedModule>& modules) {
  for (const auto& [name, module] : modules) set(name, module);
}

void ModuleDict::clear() {
  for (const std::string& name : items_->keys()) pop(name);
}

std::shared_ptr<Module> ModuleDict::pop(const std::string& key) {
  unregister(key);
  const std::shared_ptr<Module> module = (*items_)[key];
  items_->erase(key);
  return module;
}

std::shared_ptr<Module> ParameterList::clone(const std::optional<Device>& device) const {
  const auto copy = std::make_shared<ParameterList>();
  for (const Tensor& parameter : parameters_->values()) copy->append(copy_of(parameter, device));
  copy->train(is_training());
  return copy;
}

void ParameterList::append(const Tensor& parameter) {
  const std::string name = std::to_string(size());
  parameters_->insert(name, register_parameter(name, parameter, parameter.requires_grad()));
}

std::shared_ptr<Module> ParameterDict::clone(const std::optional<Device>& device) const {
  const auto copy = std::make_shared<ParameterDict>();
  for (const auto& [name, parameter] : *parameters_) copy->insert(name, copy_of(parameter, device));
  copy->train(is_training());
  return copy;
}

void ParameterList::pretty_print(std::ostream& out) const { print_contents(out, *this); }
void ParameterDict::pretty_print(std::ostream& out) const { print_contents(out, *this); }

Tensor& ParameterDict::insert(const std::string& key, const Tensor& parameter) {
  register_parameter(key, parameter, parameter.requires_grad());
  return parameters_->insert(key, parameter);
}

Tensor ParameterDict::pop(const std::string& key) {
  unregister(key);
  const Tensor parameter = (*parameters_)[key];
  parameters_->erase(key);
  return parameter;
}

void ParameterDict::clear() {
  for (const std::string& name : parameters_->keys()) pop(name);
}

void ParameterDict::update(const Items& parameters) {
  for (const auto& [name, parameter] : parameters) {
    if (contains(name)) {
      get(name) = replace_parameter(name, parameter);
    } else {
      insert(name, parameter);
    }
  }
}

}  // namespace halfgrad::nn
