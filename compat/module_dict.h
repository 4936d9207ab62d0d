#pragma once

#include <halfgrad/compat/names.h>

#include <concepts>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <halfgrad/core/fail.h>
#include <halfgrad/nn/module.h>

namespace halfgrad::nn {

/// Modules by name, in the order in which they were added. It is not called itself.
class ModuleDict : public Callable<ModuleDict> {
 public:
  using Items = OrderedDict<std::string, std::shared_ptr<Module>>;
  using NamedModule = std::pair<std::string, std::shared_ptr<Module>>;

  template <std::same_as<std::nullptr_t> T>
  ModuleDict(T empty) : Callable(empty) {}
  // A move copies, so the handle that was moved from keeps its modules.
  ModuleDict(const ModuleDict&) = default;
  ModuleDict& operator=(const ModuleDict&) = default;
  ModuleDict() : Callable("ModuleDict") {}
  /// A handle of the same modules.
  ModuleDict(const std::shared_ptr<ModuleDict>& modules)
      : ModuleDict(modules == nullptr ? ModuleDict(nullptr) : *modules) {}
  explicit ModuleDict(const std::vector<NamedModule>& modules);
  template <std::same_as<Items> T>
  explicit ModuleDict(const T& modules) : ModuleDict(modules.pairs()) {}

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;

  Items items() const { return named_children(); }
  std::vector<std::string> keys() const { return items().keys(); }
  std::vector<std::shared_ptr<Module>> values() const { return children(); }
  auto begin() const { return items_->begin(); }
  auto end() const { return items_->end(); }
  std::size_t size() const { return items_->size(); }
  bool empty() const { return items_->is_empty(); }
  bool contains(const std::string& key) const { return items_->contains(key); }

  void clear();
  /// Removes a module and returns it. Throws std::invalid_argument for an unknown name.
  std::shared_ptr<Module> pop(const std::string& key);
  /// Adds modules; one whose name is known takes the place of the old one.
  void update(const std::vector<NamedModule>& modules);
  template <std::same_as<Items> T>
  void update(const T& modules) {
    update(modules.pairs());
  }
  void update(const ModuleDict& other) { update(other.items()); }

  /// These throw std::out_of_range for an unknown name, and std::invalid_argument for a wrong type.
  std::shared_ptr<Module> operator[](const std::string& key) const { return (*items_)[key]; }
  template <class T>
  detail::Contained<T>& at(const std::string& key) const {
    return *ptr<detail::Contained<T>>(key);
  }
  using Callable::ptr;
  std::shared_ptr<Module> ptr(const std::string& key) const { return (*items_)[key]; }
  template <class T>
  std::shared_ptr<T> ptr(const std::string& key) const {
    if (auto found = std::dynamic_pointer_cast<T>(ptr(key))) return found;
    halfgrad::detail::fail("ModuleDict", "expected \"{}\" to have the requested type, got {}", key,
                           ptr(key)->name());
  }

 private:
  void set(const std::string& key, const std::shared_ptr<Module>& module);

  std::shared_ptr<Items> items_ = std::make_shared<Items>();
};

}  // namespace halfgrad::nn
