#pragma once

#include <halfgrad/compat/names.h>

#include <concepts>
#include <cstddef>
#include <memory>
#include <ostream>
#include <type_traits>
#include <utility>

#include <halfgrad/nn/module.h>

namespace halfgrad::nn {

/// A std::shared_ptr to a module of class Impl that is constructed, called and printed like the
/// module. TORCH_MODULE(Net) makes the holder Net of the class NetImpl. The layers of halfgrad need
/// no holder: nn::Linear is a handle itself.
template <class Impl>
class ModuleHolder {
 public:
  using ContainedType = Impl;

  ModuleHolder() : impl_(std::make_shared<Impl>()) {}
  /// Empty, to be assigned before use. Throws std::invalid_argument when it is used.
  ModuleHolder(std::nullptr_t) {}
  ModuleHolder(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  template <class First, class... Others>
  requires(sizeof...(Others) > 0 ||
           !std::is_base_of_v<ModuleHolder,
                              std::remove_cvref_t<First>>) explicit ModuleHolder(First&& first,
                                                                                 Others&&... others)
      : impl_(std::make_shared<Impl>(std::forward<First>(first), std::forward<Others>(others)...)) {
  }

  Impl* get() const { return ptr().get(); }
  Impl* operator->() const { return get(); }
  Impl& operator*() const { return *get(); }
  const std::shared_ptr<Impl>& ptr() const {
    if (impl_ == nullptr) detail::refuse_empty_module();
    return impl_;
  }
  bool is_empty() const { return impl_ == nullptr; }
  explicit operator bool() const { return !is_empty(); }

  template <class... Args>
  auto operator()(Args&&... args) const {
    return get()->forward(std::forward<Args>(args)...);
  }

 private:
  std::shared_ptr<Impl> impl_;
};

template <class Impl>
std::ostream& operator<<(std::ostream& out, const ModuleHolder<Impl>& holder) {
  return out << *holder;
}

}  // namespace halfgrad::nn

// NOLINTBEGIN(bugprone-macro-parentheses): names cannot be in parentheses
/// Defines the class Name, a holder of modules of class Impl.
#define TORCH_MODULE_IMPL(Name, Impl)                       \
  class Name : public ::halfgrad::nn::ModuleHolder<Impl> {  \
   public:                                                  \
    using ::halfgrad::nn::ModuleHolder<Impl>::ModuleHolder; \
  }

/// Defines the class Name, a holder of modules of class NameImpl.
#define TORCH_MODULE(Name) TORCH_MODULE_IMPL(Name, Name##Impl)
// NOLINTEND(bugprone-macro-parentheses)
