#include <halfgrad/nn/module.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <set>
#include <sstream>
#include <typeinfo>

#include <halfgrad/autograd/zero_grad.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/type_name.h>

namespace halfgrad::nn {

struct Module::State {
  std::string name;
  std::string extra;
  NamedTensors parameters = {};
  NamedTensors buffers = {};
  Children children = {};
  std::weak_ptr<Module> registered = {};  // the object that a parent keeps
  bool training = true;
  detail::Initialisation initialisation = {};
};

namespace {

std::string join(const std::string& prefix, const std::string& name) {
  return prefix.empty() || name.empty() ? prefix + name : prefix + "." + name;
}

/// Replaces the tensor's array; every Tensor handle sees the new one.
template <class Target>
void convert(Tensor tensor, Target target) {
  tensor.impl()->array = tensor.array().to(target);
  if (tensor.grad().defined()) tensor.set_grad(Tensor(tensor.grad().array().to(target)));
}

auto find_entry(auto& list, const std::string& name) {
  return std::ranges::find_if(list, [&](const auto& entry) { return entry.first == name; });
}

template <class List, class Value>
void replace_entry(const char* op, List& list, const std::string& name, const Value& value) {
  const auto entry = find_entry(list, name);
  if (entry == list.end()) halfgrad::detail::fail(op, "expected a known name, got \"{}\"", name);
  entry->second = value;
}

void expect_leaf(const char* op, const std::string& name, const Tensor& tensor) {
  if (tensor.is_leaf()) return;
  halfgrad::detail::fail(op, "expected a leaf, got \"{}\", the result of {}; detach() it", name,
                         tensor.grad_fn_name());
}

}  // namespace

void detail::refuse_empty_module() {
  halfgrad::detail::fail("Module", "expected a module, got an empty one; assign it before use");
}

Module::Module(std::string name, std::string extra)
    : state_(std::make_shared<State>(State{std::move(name), std::move(extra)})) {}

std::string Module::name() const {
  if (!existing().name.empty()) return existing().name;
  return typeid(*this) == typeid(Module) ? "Module" : halfgrad::detail::type_name(typeid(*this));
}
const std::string& Module::extra() const { return existing().extra; }

void Module::initialise(std::function<void()> draw) {
  const RandomKey first = default_generator().get_state();
  draw();
  const std::uint64_t keys = default_generator().get_state().stream - first.stream;
  existing().initialisation = {first, keys, std::move(draw)};
}

detail::Initialisation& Module::initialisation() const { return existing().initialisation; }

void Module::check_name(const std::string& name, const char* op) const {
  const auto has_name = [&](auto& list) { return find_entry(list, name) != list.end(); };
  if (name.empty() || name.find('.') != std::string::npos || has_name(existing().parameters) ||
      has_name(existing().buffers) || has_name(existing().children)) {
    halfgrad::detail::fail(op, "expected a new name without dots, got \"{}\" in {}", name,
                           this->name());
  }
}

Tensor Module::register_parameter(const std::string& name, Tensor tensor, bool requires_grad) {
  check_name(name, "register_parameter");
  if (!tensor.defined()) return tensor;
  expect_leaf("register_parameter", name, tensor);
  tensor.requires_grad_(requires_grad);
  existing().parameters.emplace_back(name, tensor);
  return tensor;
}

Tensor Module::register_buffer(const std::string& name, Tensor tensor) {
  check_name(name, "register_buffer");
  if (tensor.defined()) existing().buffers.emplace_back(name, tensor);
  return tensor;
}

Tensor Module::replace_parameter(const std::string& name, Tensor tensor) {
  expect_leaf("replace_parameter", name, tensor);
  replace_entry("replace_parameter", existing().parameters, name, tensor);
  return tensor;
}

Tensor Module::replace_buffer(const std::string& name, Tensor tensor) {
  replace_entry("replace_buffer", existing().buffers, name, tensor);
  return tensor;
}

void Module::unregister(const std::string& name) {
  const auto remove = [&](auto& list) {
    const auto entry = find_entry(list, name);
    if (entry == list.end()) return false;
    list.erase(entry);
    return true;
  };
  if (remove(existing().parameters) || remove(existing().buffers) || remove(existing().children))
    return;
  halfgrad::detail::fail("unregister", "expected a known name, got \"{}\"", name);
}

void Module::add_child(const std::string& name, std::shared_ptr<Module> module) {
  check_name(name, "register_module");
  check_child(name, module.get());
  existing().children.emplace_back(name, std::move(module));
}

void Module::replace_child(const std::string& name, const std::shared_ptr<Module>& module) {
  check_child(name, module.get());
  replace_entry("replace_module", existing().children, name, module);
}

void Module::check_child(const std::string& name, const Module* module) const {
  if (module == nullptr) detail::refuse_empty_module();
  const auto is_this = [this](const auto& item) { return item.second->is_same(*this); };
  if (std::ranges::any_of(module->paths(), is_this)) {
    halfgrad::detail::fail(
        "register_module",
        "expected a module that does not contain this {}, got \"{}\", which does", this->name(),
        name);
  }
}

std::vector<std::pair<std::string, const Module*>> Module::paths(bool recurse) const {
  std::vector<std::pair<std::string, const Module*>> result{{"", this}};
  if (!recurse) return result;
  for (const auto& [name, child] : existing().children) {
    for (const auto& [path, module] : child->paths()) result.emplace_back(join(name, path), module);
  }
  return result;
}

std::weak_ptr<Module>& Module::registered() const { return existing().registered; }

std::shared_ptr<Module> Module::shared() const {
  if (const auto own = weak_from_this().lock()) return std::const_pointer_cast<Module>(own);
  const auto known = registered().lock();
  return known != nullptr ? known : new_handle();
}

OrderedDict<std::string, Tensor> Module::distinct(NamedTensors State::*list, bool recurse) const {
  OrderedDict<std::string, Tensor> result;
  std::set<const halfgrad::detail::TensorImpl*> seen;
  for (const auto& [path, module] : paths(recurse)) {
    for (const auto& [name, tensor] : module->existing().*list) {
      if (seen.insert(tensor.impl().get()).second) result.insert(join(path, name), tensor);
    }
  }
  return result;
}

std::vector<Tensor> Module::parameters(bool recurse) const {
  return named_parameters(recurse).values();
}
OrderedDict<std::string, Tensor> Module::named_parameters(bool recurse) const {
  return distinct(&State::parameters, recurse);
}
std::vector<Tensor> Module::buffers(bool recurse) const { return named_buffers(recurse).values(); }
OrderedDict<std::string, Tensor> Module::named_buffers(bool recurse) const {
  return distinct(&State::buffers, recurse);
}

std::vector<std::shared_ptr<Module>> Module::children() const { return named_children().values(); }
OrderedDict<std::string, std::shared_ptr<Module>> Module::named_children() const {
  OrderedDict<std::string, std::shared_ptr<Module>> result;
  std::set<const State*> seen;
  for (const auto& [name, child] : existing().children) {
    if (seen.insert(&child->existing()).second) result.insert(name, child);
  }
  return result;
}

std::vector<std::shared_ptr<Module>> Module::modules(bool include_self) const {
  return named_modules("", include_self).values();
}
OrderedDict<std::string, std::shared_ptr<Module>> Module::named_modules(const std::string& prefix,
                                                                        bool include_self) const {
  OrderedDict<std::string, std::shared_ptr<Module>> result;
  std::set<const State*> seen;
  if (!include_self) seen.insert(&existing());
  for (const auto& [path, module] : paths()) {
    if (seen.insert(&module->existing()).second)
      result.insert(join(prefix, path), module->shared());
  }
  return result;
}

std::shared_ptr<Module> Module::clone(const std::optional<Device>& /*device*/) const {
  halfgrad::detail::fail("clone", "expected a class derived from nn::Cloneable, got {}", name());
}

void Module::start_anew() {
  const State& old = existing();
  state_ = std::make_shared<State>(State{old.name, old.extra});
  state_->training = old.training;
}

void Module::train(bool on) {
  existing().training = on;
  for (const auto& [name, child] : existing().children) child->train(on);
}
bool Module::is_training() const { return existing().training; }

void Module::to(Device device, bool /*non_blocking*/) {
  for (const Tensor& tensor : parameters()) convert(tensor, device);
  for (const Tensor& tensor : buffers()) convert(tensor, device);
}

void Module::to(DType dtype, bool /*non_blocking*/) {
  if (!is_floating_point(dtype)) {
    halfgrad::detail::fail("Module::to", "expected a floating-point dtype, got {}", dtype);
  }
  for (const Tensor& tensor : parameters()) convert(tensor, dtype);
  for (const Tensor& tensor : buffers()) {
    if (tensor.is_floating_point()) convert(tensor, dtype);
  }
}

void Module::to(Device device, DType dtype, bool /*non_blocking*/) {
  to(dtype);
  to(device);
}

void Module::zero_grad(bool set_to_none) {
  for (const Tensor& parameter : parameters()) {
    halfgrad::detail::zero_grad(parameter, set_to_none);
  }
}

StateDict Module::state_dict() const {
  StateDict result;
  for (const auto& [path, module] : paths()) {
    for (const NamedTensors* list : {&module->existing().parameters, &module->existing().buffers}) {
      for (const auto& [name, tensor] : *list) result.insert(join(path, name), tensor.detach());
    }
  }
  return result;
}

void Module::pretty_print(std::ostream& out) const { out << name() << '(' << extra() << ')'; }

void Module::print(std::ostream& out, int depth) const {
  if (existing().children.empty()) return pretty_print(out);
  std::ostringstream own, usual;
  pretty_print(own);
  Module::pretty_print(usual);
  if (own.str() == usual.str()) {
    out << name() << '(' << extra();
  } else {  // an override: as in libtorch, the submodules follow its text
    out << own.str() << '(';
  }
  for (const auto& [name, child] : existing().children) {
    out << '\n' << std::string(2 * depth + 2, ' ') << '(' << name << "): ";
    child->print(out, depth + 1);
  }
  out << '\n' << std::string(2 * depth, ' ') << ')';
}

std::ostream& operator<<(std::ostream& out, const Module& module) {
  module.print(out, 0);
  return out;
}

}  // namespace halfgrad::nn
