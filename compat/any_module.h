#pragma once

#include <halfgrad/compat/names.h>

#include <any>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <halfgrad/compat/module_holder.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/warning.h>
#include <halfgrad/nn/module.h>
#include <halfgrad/nn/sequential.h>

namespace halfgrad::nn {
namespace detail {

std::string readable(const std::type_info& type);

}  // namespace detail

/// A value of any copyable type.
class AnyValue {
 public:
  // NOLINTBEGIN(bugprone-forwarding-reference-overload): no AnyValue is a T
  template <class T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, AnyValue>) explicit AnyValue(T&& value)
      : value_(std::decay_t<T>(std::forward<T>(value))) {}
  // NOLINTEND(bugprone-forwarding-reference-overload)

  /// Null if the value has another type.
  template <class T>
  T* try_get() {
    return std::any_cast<std::remove_cv_t<T>>(&value_);
  }
  /// Throws std::invalid_argument if the value has another type.
  template <class T>
  T get() const {
    if (const auto* value = std::any_cast<std::remove_cv_t<T>>(&value_)) return *value;
    halfgrad::detail::fail("AnyValue", "expected a value of type {}, got one of type {}",
                           detail::readable(typeid(T)), detail::readable(type_info()));
  }
  const std::type_info& type_info() const noexcept { return value_.type(); }

 private:
  std::any value_;
};

namespace detail {

template <class... Args>
struct ArgumentList {};

/// The types of the arguments of forward(), without a call site, which the caller leaves out.
template <class Function>
struct ForwardTraits;
template <class M, class R, class... Args>
struct ForwardTraits<R (M::*)(Args...)> {
  using Arguments = ArgumentList<Args...>;
};
template <class M, class R, class... Args>
struct ForwardTraits<R (M::*)(Args...) const> {
  using Arguments = ArgumentList<Args...>;
};
template <class M, class R, class A, class B>
struct ForwardTraits<R (M::*)(A, B, CallSite) const> {
  using Arguments = ArgumentList<A, B>;
};

template <class M>
concept HasOneForward = requires {
  &M::forward;
};

/// The arguments of forward(); those of its form for tensors if there are several.
template <class M>
auto arguments_of() {
  if constexpr (HasOneForward<M>) {
    return typename ForwardTraits<decltype(&M::forward)>::Arguments();
  } else {
    return ArgumentList<const Tensor&>();
  }
}

/// A module whose type is forgotten, and the calls that still need it.
struct ForgottenModule {
  std::shared_ptr<Module> module;
  const std::type_info* type;
  std::function<AnyValue(std::vector<AnyValue>)> forward;
  std::function<std::shared_ptr<ForgottenModule>(const std::optional<Device>&)> clone;
};

[[noreturn]] void refuse_argument_count(const Module& module, std::size_t expected,
                                        std::size_t found);
[[noreturn]] void refuse_argument(std::size_t i, const std::type_info& expected,
                                  const std::type_info& found);

template <class T>
std::decay_t<T>& argument(std::vector<AnyValue>& values, std::size_t i) {
  auto* value = values[i].try_get<std::decay_t<T>>();
  if (value == nullptr) refuse_argument(i, typeid(T), values[i].type_info());
  return *value;
}

/// A module with FORWARD_HAS_DEFAULT_ARGS.
template <class M>
concept HasDefaultArguments = requires {
  M::forward_default_arguments();
};

template <class M, class... Args, std::size_t... I>
AnyValue call_forward(M& module, std::vector<AnyValue>& values, ArgumentList<Args...>,
                      std::index_sequence<I...>) {
  if constexpr (HasDefaultArguments<M>) {
    for (const auto& [position, value] : M::forward_default_arguments()) {
      if (values.size() == position) values.push_back(value);
    }
  }
  if (values.size() != sizeof...(Args)) {
    refuse_argument_count(module, sizeof...(Args), values.size());
  }
  return AnyValue(module.forward(static_cast<Args&&>(argument<Args>(values, I))...));
}

template <class M, class... Args>
AnyValue call_forward(M& module, std::vector<AnyValue>& values, ArgumentList<Args...> list) {
  return call_forward(module, values, list, std::index_sequence_for<Args...>());
}

template <class M>
std::shared_ptr<ForgottenModule> forget(const std::shared_ptr<M>& module) {
  using Arguments = decltype(arguments_of<M>());
  if (module == nullptr) refuse_empty_module();
  return std::make_shared<ForgottenModule>(
      ForgottenModule{.module = module,
                      .type = &typeid(M),
                      .forward =
                          [module](std::vector<AnyValue> values) {
                            return call_forward(*module, values, Arguments());
                          },
                      .clone =
                          [module](const std::optional<Device>& device) {
                            return forget(std::dynamic_pointer_cast<M>(module->clone(device)));
                          }});
}

}  // namespace detail

/// A module of any class with a forward(), whose arguments and result may have any type.
///
///   nn::AnyModule any(nn::Linear(3, 4));
///   Tensor y = any.forward(x);
///   int n = any.forward<int>(5);  // a module with `int forward(int)`
class AnyModule {
 public:
  using Value = AnyValue;

  AnyModule() = default;
  template <class M>
  AnyModule(std::shared_ptr<M> module) : content_(detail::forget(module)) {}
  template <class M>
  requires(std::is_base_of_v<Module, M>) explicit AnyModule(M module)
      : content_(detail::forget(std::make_shared<M>(std::move(module)))) {}
  template <class M>
  explicit AnyModule(const ModuleHolder<M>& holder) : content_(detail::forget(holder.ptr())) {}

  bool is_empty() const noexcept { return content_ == nullptr; }
  /// All functions below throw std::invalid_argument if this is empty.
  AnyModule clone(const std::optional<Device>& device = std::nullopt) const {
    AnyModule copy;
    copy.content_ = content("clone").clone(device);
    return copy;
  }
  /// Calls the module. The types of the arguments must be those of its forward(), except for const
  /// and references. Throws std::invalid_argument for others, and if the result is no Result.
  template <class Result = Tensor, class... Args>
  Result forward(Args&&... args) const {
    return any_forward(std::forward<Args>(args)...).template get<Result>();
  }
  template <class... Args>
  AnyValue any_forward(Args&&... args) const {
    std::vector<AnyValue> values;
    (values.push_back(AnyValue(std::forward<Args>(args))), ...);
    return content("forward").forward(std::move(values));
  }
  /// The module, or a holder of it. Throws std::invalid_argument if it has another type.
  template <class T>
  decltype(auto) get() const {
    if constexpr (std::is_base_of_v<Module, T>) {
      return static_cast<T&>(*ptr<T>());
    } else {
      return T(ptr<detail::Contained<T>>());
    }
  }
  std::shared_ptr<Module> ptr() const { return content("ptr").module; }
  template <class T>
  std::shared_ptr<T> ptr() const {
    if (auto found = std::dynamic_pointer_cast<T>(ptr())) return found;
    halfgrad::detail::fail("AnyModule", "expected a module of type {}, got {}",
                           detail::readable(typeid(T)), detail::readable(type_info()));
  }
  const std::type_info& type_info() const { return *content("type_info").type; }

  /// The module as a layer of a Sequential.
  std::function<Tensor(const Tensor&)> tensor_function() const {
    return [any = *this](const Tensor& x) { return any.forward(x); };
  }

 private:
  const detail::ForgottenModule& content(const char* function) const {
    if (is_empty()) {
      halfgrad::detail::fail("AnyModule", "expected a module for {}(), got an empty AnyModule",
                             function);
    }
    return *content_;
  }

  std::shared_ptr<detail::ForgottenModule> content_;
};

using NamedAnyModule = NamedLayer;  ///< libtorch's name

}  // namespace halfgrad::nn

/// Default arguments of a module's forward() for calls through AnyModule and Sequential: pairs of a
/// position and a value, in the order of the positions. It begins a public part of the class.
///
///   Tensor forward(Tensor x, int n = 2);
///   FORWARD_HAS_DEFAULT_ARGS({1, torch::nn::AnyValue(2)})
#define FORWARD_HAS_DEFAULT_ARGS(...)                                                             \
 public:                                                                                          \
  static std::vector<std::pair<unsigned, ::halfgrad::nn::AnyValue>> forward_default_arguments() { \
    return {__VA_ARGS__};                                                                         \
  }
