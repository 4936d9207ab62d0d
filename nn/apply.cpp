#include <utility>

#include <halfgrad/nn/module.h>

namespace halfgrad::nn {
namespace {

std::string dotted(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

}  // namespace

void Module::apply(const std::function<void(Module&)>& function) {
  function(*this);
  for (const auto& child : children()) child->apply(function);
}
void Module::apply(const std::function<void(const std::string& name, Module&)>& function,
                   const std::string& prefix) {
  function(prefix, *this);
  for (const auto& [name, child] : named_children()) child->apply(function, dotted(prefix, name));
}
void Module::apply(const std::function<void(const Module&)>& function) const {
  function(*this);
  for (const auto& child : children()) std::as_const(*child).apply(function);
}
void Module::apply(const std::function<void(const std::string& name, const Module&)>& function,
                   const std::string& prefix) const {
  function(prefix, *this);
  for (const auto& [name, child] : named_children()) {
    std::as_const(*child).apply(function, dotted(prefix, name));
  }
}
void Module::apply(const std::function<void(const std::shared_ptr<Module>&)>& function) const {
  function(shared());
  for (const auto& child : children()) std::as_const(*child).apply(function);
}
void Module::apply(
    const std::function<void(const std::string& name, const std::shared_ptr<Module>&)>& function,
    const std::string& prefix) const {
  function(prefix, shared());
  for (const auto& [name, child] : named_children()) {
    std::as_const(*child).apply(function, dotted(prefix, name));
  }
}

}  // namespace halfgrad::nn
