#pragma once

#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>

#include <halfgrad/amp/autocast.h>
#include <halfgrad/autograd/function.h>

/// Autocast for user-defined functions: forward chooses its autocast settings, and backward runs
/// with the same ones wherever it is called from. Both return a guard for the rest of the function:
///
///   struct Power : autograd::Function<Power> {
///     static Tensor forward(AutogradContext* ctx, Tensor x, Tensor y) {
///       const auto autocast = amp::custom_fwd(ctx, kCUDA, kFloat, x, y);  // 16 bits overflow
///       ctx->save_for_backward({x, y});
///       return pow(x, y);
///     }
///     static variable_list backward(AutogradContext* ctx, variable_list grads) {
///       const auto autocast = amp::custom_bwd(ctx, kCUDA);
///       ...
///     }
///   };
namespace halfgrad {
namespace detail {

void remember_autocast(autograd::AutogradContext* ctx, DeviceType type, bool enabled);
void cast_if_eligible(Tensor& tensor, DeviceType type, DType dtype);

template <class Argument>
concept PairLike = requires(Argument& argument) {
  argument.first, argument.second;
};

/// Casts a tensor, or the tensors in a container; leaves other arguments alone.
template <class Argument>
void cast_argument(Argument& argument, DeviceType type, DType dtype) {
  using Value = std::remove_const_t<Argument>;
  if constexpr (std::is_same_v<Value, Tensor>) {
    static_assert(!std::is_const_v<Argument>, "custom_fwd: take tensors to be cast by value");
    cast_if_eligible(argument, type, dtype);
  } else if constexpr (std::ranges::range<Value>) {
    for (auto& element : argument) cast_argument(element, type, dtype);
  } else if constexpr (PairLike<Value>) {
    cast_argument(argument.second, type, dtype);
  }
}

}  // namespace detail

namespace amp {

/// Stores the settings of the region in which forward is called. Forward runs with them, and
/// backward will, too.
void custom_fwd(autograd::AutogradContext* ctx, DeviceType type);

/// Casts the inputs of a forward that needs them in one dtype. In an enabled region it casts every
/// input that autocast may cast (is_eligible() in amp/policy.h), also in vectors and as values of
/// maps. It disables autocast until the guard is destroyed. Outside a region it does nothing.
/// Backward will run with autocast disabled.
template <class... Inputs>
[[nodiscard]] std::optional<Autocast> custom_fwd(autograd::AutogradContext* ctx, DeviceType type,
                                                 DType cast_inputs, Inputs&... inputs) {
  detail::remember_autocast(ctx, type, false);
  if (!is_autocast_enabled(type)) return std::nullopt;
  (detail::cast_argument(inputs, type, cast_inputs), ...);
  return std::optional<Autocast>(std::in_place, type, AutocastOptions{.enabled = false});
}

/// A region with the settings that custom_fwd() saved for this device type. Throws
/// std::invalid_argument if custom_fwd() was not called for it.
[[nodiscard]] Autocast custom_bwd(autograd::AutogradContext* ctx, DeviceType type);

}  // namespace amp
}  // namespace halfgrad
