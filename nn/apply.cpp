#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <halfgrad/nn/module.h>

namespace halfgrad::nn {

void Module::apply(const std::function<void(Module&)>& function) {
  for (const auto& child : children()) child->apply(function);
  function(*this);
}

void Module::apply(const std::function<void(const std::string& name, Module&)>& function,
                   const std::string& prefix) {
  for (const auto& [name, child] : named_children())
    child->apply(function, prefix.empty() ? name : prefix + "." + name);
  function(prefix, *this);
}

void Module::apply(const std::function<void(const std::shared_ptr<Module>&)>& function) const {
  for (const auto& child : children()) std::as_const(*child).apply(function);
  function(shared());
}

}  // namespace halfgrad::nn
