#pragma once

#include <halfgrad/compat/names.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfgrad/core/fail.h>
#include <halfgrad/nn/module.h>

namespace halfgrad::nn {

/// Modules by position, registered as "0", "1", ... It is not called itself.
class ModuleList : public Callable<ModuleList> {
 public:
  using Iterator = std::vector<std::shared_ptr<Module>>::iterator;

  template <std::same_as<std::nullptr_t> T>
  ModuleList(T empty) : Callable(empty) {}
  // A move copies, so the handle that was moved from keeps its modules.
  ModuleList(const ModuleList&) = default;
  ModuleList& operator=(const ModuleList&) = default;
  /// A handle of the same modules.
  ModuleList(const std::shared_ptr<ModuleList>& modules)
      : ModuleList(modules == nullptr ? ModuleList(nullptr) : *modules) {}
  template <class... Modules>
  explicit ModuleList(Modules... modules) : Callable("ModuleList") {
    (push_back(std::move(modules)), ...);
  }

  /// Takes a module, a std::shared_ptr to one, or a holder. Does nothing if a pointer is null.
  template <class M>
  void push_back(const M& module) {
    insert(size(), module);
  }
  /// Throws std::out_of_range if `index` is above size().
  template <class M>
  void insert(std::size_t index, const M& module) {
    insert_shared(index, detail::shared_module(module));
  }
  /// Appends the modules of a range.
  template <class Range>
  void extend(const Range& modules) {
    for (const auto& module : modules) push_back(module);
  }

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    const auto copy = std::make_shared<ModuleList>();
    for (const auto& module : *modules_) copy->push_back(module->clone(device));
    copy->train(is_training());
    return copy;
  }

  std::size_t size() const noexcept { return modules_->size(); }
  bool is_empty() const noexcept { return !has_state() || modules_->empty(); }
  Iterator begin() const { return modules_->begin(); }
  Iterator end() const { return modules_->end(); }

  /// All of these throw std::out_of_range for a wrong position, and std::invalid_argument for a
  /// wrong type.
  template <class T>
  detail::Contained<T>& at(std::size_t index) const {
    return *ptr<detail::Contained<T>>(index);
  }
  using Callable::ptr;
  std::shared_ptr<Module> ptr(std::size_t index) const;
  template <class T>
  std::shared_ptr<T> ptr(std::size_t index) const {
    if (auto found = std::dynamic_pointer_cast<T>(ptr(index))) return found;
    halfgrad::detail::fail("ModuleList", "expected module {} to have the requested type, got {}",
                           index, ptr(index)->name());
  }
  std::shared_ptr<Module> operator[](std::size_t index) const { return ptr(index); }

 private:
  void insert_shared(std::size_t index, std::shared_ptr<Module> module);

  using Modules = std::vector<std::shared_ptr<Module>>;
  std::shared_ptr<Modules> modules_ = std::make_shared<Modules>();
};

}  // namespace halfgrad::nn
