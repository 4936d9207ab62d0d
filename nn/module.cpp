#include <halfgrad/nn/module.h>

#include <algorithm>
#include <ostream>
#include <set>

#include <halfgrad/autograd/zero_grad.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::nn {

struct Module::State {
  std::string name;
  std::string extra;
  NamedTensors parameters = {};
  NamedTensors buffers = {};
  ModuleList children = {};
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

void append_names(std::string& text, const char* what, const std::vector<std::string>& names) {
  constexpr std::size_t kMostNames = 20, kMostBytes = 200;  // the names may come from any file
  if (names.empty()) return;
  text += std::string("\n  ") + what + ":";
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    const std::string& name = names[i];
    text += " \"" + name.substr(0, kMostBytes) + (name.size() > kMostBytes ? "...\"" : "\"");
  }
  if (names.size() > kMostNames) {
    text += " and " + std::to_string(names.size() - kMostNames) + " more";
  }
}

}  // namespace

Module::Module(std::string name, std::string extra)
    : state_(std::make_shared<State>(State{std::move(name), std::move(extra)})) {}

const std::string& Module::name() const { return state_->name; }
const std::string& Module::extra() const { return state_->extra; }

void Module::initialise(std::function<void()> draw) {
  const RandomKey first = default_generator().get_state();
  draw();
  const std::uint64_t keys = default_generator().get_state().stream - first.stream;
  state_->initialisation = {first, keys, std::move(draw)};
}

detail::Initialisation& Module::initialisation() const { return state_->initialisation; }

void Module::check_name(const std::string& name, const char* op) const {
  const auto has_name = [&](auto& list) { return find_entry(list, name) != list.end(); };
  if (name.empty() || name.find('.') != std::string::npos || has_name(state_->parameters) ||
      has_name(state_->buffers) || has_name(state_->children)) {
    halfgrad::detail::fail(op, "expected a new name without dots, got \"{}\" in {}", name,
                           state_->name);
  }
}

Tensor Module::register_parameter(const std::string& name, Tensor tensor, bool requires_grad) {
  check_name(name, "register_parameter");
  if (!tensor.defined()) return tensor;
  expect_leaf("register_parameter", name, tensor);
  tensor.requires_grad_(requires_grad);
  state_->parameters.emplace_back(name, tensor);
  return tensor;
}

Tensor Module::register_buffer(const std::string& name, Tensor tensor) {
  check_name(name, "register_buffer");
  if (tensor.defined()) state_->buffers.emplace_back(name, tensor);
  return tensor;
}

Tensor Module::replace_parameter(const std::string& name, Tensor tensor) {
  expect_leaf("replace_parameter", name, tensor);
  replace_entry("replace_parameter", state_->parameters, name, tensor);
  return tensor;
}

Tensor Module::replace_buffer(const std::string& name, Tensor tensor) {
  replace_entry("replace_buffer", state_->buffers, name, tensor);
  return tensor;
}

void Module::unregister(const std::string& name) {
  const auto remove = [&](auto& list) {
    const auto entry = find_entry(list, name);
    if (entry == list.end()) return false;
    list.erase(entry);
    return true;
  };
  if (remove(state_->parameters) || remove(state_->buffers) || remove(state_->children)) return;
  halfgrad::detail::fail("unregister", "expected a known name, got \"{}\"", name);
}

void Module::add_child(const std::string& name, const Module& module) {
  check_name(name, "register_module");
  check_child(name, module);
  state_->children.emplace_back(name, module);
}

void Module::replace_child(const std::string& name, const Module& module) {
  check_child(name, module);
  replace_entry("replace_module", state_->children, name, module);
}

void Module::check_child(const std::string& name, const Module& module) const {
  const auto is_this = [this](const auto& item) { return item.second.is_same(*this); };
  if (std::ranges::any_of(module.paths(), is_this)) {
    halfgrad::detail::fail(
        "register_module",
        "expected a module that does not contain this {}, got \"{}\", which does", state_->name,
        name);
  }
}

Module::ModuleList Module::paths(bool recurse) const {
  ModuleList result{{"", *this}};
  if (!recurse) return result;
  for (const auto& [name, child] : state_->children) {
    for (const auto& [path, module] : child.paths()) result.emplace_back(join(name, path), module);
  }
  return result;
}

OrderedDict<Tensor> Module::distinct(NamedTensors State::*list, bool recurse) const {
  OrderedDict<Tensor> result;
  std::set<const halfgrad::detail::TensorImpl*> seen;
  for (const auto& [path, module] : paths(recurse)) {
    for (const auto& [name, tensor] : module.state_.get()->*list) {
      if (seen.insert(tensor.impl().get()).second) result.insert(join(path, name), tensor);
    }
  }
  return result;
}

std::vector<Tensor> Module::parameters(bool recurse) const {
  return named_parameters(recurse).values();
}
OrderedDict<Tensor> Module::named_parameters(bool recurse) const {
  return distinct(&State::parameters, recurse);
}
std::vector<Tensor> Module::buffers(bool recurse) const { return named_buffers(recurse).values(); }
OrderedDict<Tensor> Module::named_buffers(bool recurse) const {
  return distinct(&State::buffers, recurse);
}

std::vector<Module> Module::children() const { return named_children().values(); }
OrderedDict<Module> Module::named_children() const {
  OrderedDict<Module> result;
  std::set<const State*> seen;
  for (const auto& [name, child] : state_->children) {
    if (seen.insert(child.state_.get()).second) result.insert(name, child);
  }
  return result;
}

std::vector<Module> Module::modules() const { return named_modules().values(); }
OrderedDict<Module> Module::named_modules() const {
  OrderedDict<Module> result;
  std::set<const State*> seen;
  for (const auto& [path, module] : paths()) {
    if (seen.insert(module.state_.get()).second) result.insert(path, module);
  }
  return result;
}

void Module::train(bool on) {
  for (const Module& module : modules()) module.state_->training = on;
}
bool Module::is_training() const { return state_->training; }

void Module::to(Device device) {
  for (const Tensor& tensor : parameters()) convert(tensor, device);
  for (const Tensor& tensor : buffers()) convert(tensor, device);
}

void Module::to(DType dtype) {
  if (!is_floating_point(dtype)) {
    halfgrad::detail::fail("Module::to", "expected a floating-point dtype, got {}", dtype);
  }
  for (const Tensor& tensor : parameters()) convert(tensor, dtype);
  for (const Tensor& tensor : buffers()) {
    if (tensor.is_floating_point()) convert(tensor, dtype);
  }
}

void Module::zero_grad(bool set_to_none) {
  for (const Tensor& parameter : parameters()) {
    halfgrad::detail::zero_grad(parameter, set_to_none);
  }
}

void Module::apply(const std::function<void(Module&)>& function) {
  for (auto& child : children()) child.apply(function);
  function(*this);
}

StateDict Module::state_dict() const {
  StateDict result;
  for (const auto& [path, module] : paths()) {
    for (const NamedTensors* list : {&module.state_->parameters, &module.state_->buffers}) {
      for (const auto& [name, tensor] : *list) result.insert(join(path, name), tensor.detach());
    }
  }
  return result;
}

IncompatibleKeys Module::load_state_dict(const StateDict& state, LoadStateDictOptions options) {
  const StateDict own = state_dict();
  IncompatibleKeys keys;
  std::string mismatches;
  std::vector<std::pair<Array, Array>>
      copies;  // made before any copy_, so an error changes nothing
  for (const auto& [name, target] : own) {
    const Tensor* source = state.find(name);
    if (source == nullptr || !source->defined()) {
      keys.missing_keys.push_back(name);
    } else if (source->sizes() != target.sizes()) {
      mismatches += "\n  size mismatch for \"" + name + "\": expected " +
                    to_string(target.sizes()) + ", got " + to_string(source->sizes());
    } else {
      const Array converted = source->array().to(target.device()).to(target.dtype());
      copies.emplace_back(target.array(), converted);
    }
  }
  for (const auto& [name, tensor] : state) {
    if (!own.contains(name)) keys.unexpected_keys.push_back(name);
  }

  std::string errors;
  if (options.strict) {
    append_names(errors, "missing", keys.missing_keys);
    append_names(errors, "unexpected", keys.unexpected_keys);
  }
  errors += mismatches;
  if (!errors.empty()) {
    halfgrad::detail::fail("load_state_dict", "expected the state of this {}, got{}", state_->name,
                           errors);
  }
  for (const auto& [target, source] : copies) {
    target.copy_(source);
    target.storage()->bump_version();
  }
  return keys;
}

void Module::print(std::ostream& out, int depth) const {
  out << state_->name << '(' << state_->extra;
  for (const auto& [name, child] : state_->children) {
    out << '\n' << std::string(2 * depth + 2, ' ') << '(' << name << "): ";
    child.print(out, depth + 1);
  }
  if (!state_->children.empty()) out << '\n' << std::string(2 * depth, ' ');
  out << ')';
}

std::ostream& operator<<(std::ostream& out, const Module& module) {
  module.print(out, 0);
  return out;
}

}  // namespace halfgrad::nn
