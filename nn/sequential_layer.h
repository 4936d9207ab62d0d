#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include <halfgrad/core/fail.h>
#include <halfgrad/nn/module.h>

/// Layers of a Sequential that are no callable modules or functions: libtorch's modules, which have
/// a forward() and are held by pointer.
namespace halfgrad::nn::detail {

/// The object that forward() is called on: `layer` itself if it is a std::shared_ptr, the module of
/// a holder, or a copy of a module.
template <class Layer>
auto shared_layer(const Layer& layer) {
  if constexpr (std::is_convertible_v<const Layer&, std::shared_ptr<Module>>) {
    return layer;
  } else if constexpr (std::is_base_of_v<Module, Layer>) {
    return std::make_shared<Layer>(layer);
  } else {
    return layer.ptr();
  }
}

template <class Layer>
concept HeldModule = requires(const Layer& layer) {
  { layer.ptr() } -> std::convertible_to<std::shared_ptr<Module>>;
};

template <class Layer>
concept LayerByCall = std::invocable<const Layer&, const Tensor&> &&
    (std::is_base_of_v<Module, Layer> || !HeldModule<Layer>);

template <class Layer>
concept LayerByForward =
    !LayerByCall<Layer> &&
    (std::is_base_of_v<Module, Layer> ||
     std::is_convertible_v<const Layer&, std::shared_ptr<Module>> || HeldModule<Layer>);

template <class M>
concept MapsTensors = requires(M& module, const Tensor& x) {
  { module.forward(x) } -> std::convertible_to<Tensor>;
};

/// Calls forward() of a module; throws std::invalid_argument if it does not map a Tensor to one.
template <class M>
struct ForwardOf {
  std::shared_ptr<M> module;

  Tensor operator()(const Tensor& x) const {
    if constexpr (MapsTensors<M>) {
      return module->forward(x);
    } else {
      halfgrad::detail::fail(
          "Sequential", "expected a layer that maps a Tensor to a Tensor, got {}", module->name());
    }
  }
};

using TensorFunction = std::function<Tensor(const Tensor&)>;

/// A layer whose type is not known here, such as an nn::AnyModule.
template <class Layer>
concept KnowsItsFunction = requires(const Layer& layer) {
  { layer.tensor_function() } -> std::same_as<TensorFunction>;
};

template <class Layer, class M>
TensorFunction function_of(const Layer& layer, const std::shared_ptr<M>& object) {
  if constexpr (KnowsItsFunction<Layer>) {
    return layer.tensor_function();
  } else {
    return ForwardOf<M>{object};
  }
}

template <class Layer>
concept ClonesItself = requires(const Layer& layer, const std::optional<Device>& device) {
  { layer.clone(device) } -> std::same_as<Layer>;
};

/// A deep copy of a layer, with its own type. A plain function is returned as it is.
template <class Layer>
auto clone_of(const Layer& layer, const std::optional<Device>& device) {
  if constexpr (ClonesItself<Layer>) {
    return layer.clone(device);
  } else if constexpr (std::is_base_of_v<Module, Layer>) {
    return Layer(*std::dynamic_pointer_cast<Layer>(layer.clone(device)));
  } else if constexpr (std::is_convertible_v<const Layer&, std::shared_ptr<Module>>) {
    return std::dynamic_pointer_cast<typename Layer::element_type>(layer->clone(device));
  } else if constexpr (HeldModule<Layer>) {
    return Layer(std::dynamic_pointer_cast<Contained<Layer>>(layer->clone(device)));
  } else {
    return layer;
  }
}

}  // namespace halfgrad::nn::detail
