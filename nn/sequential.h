#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfgrad/core/fail.h>
#include <halfgrad/nn/module.h>

namespace halfgrad::nn {

/// Layers applied one after the other, named "0", "1", ... unless given names. A layer is anything
/// that can be called with a Tensor and returns one: a module, or a plain function.
///
/// On a GPU a Linear followed by a ReLU runs as linear_relu: one launch, with the same bits. The
/// layers run one by one while an observer watches, in anomaly mode, and if the cast rule could
/// tell them from linear_relu. The grad_fn of such a pair's output is "linear_relu".
class Sequential : public Callable<Sequential> {
 public:
  /// Layers constructed in the argument list draw their weights from left to right:
  ///     Sequential(Linear(784, 512), ReLU(), Linear(512, 10))
  /// has the weights of two Linear constructed in this order. If the compiler evaluated the
  /// arguments in another order, the constructor repeats the draws; if it can't, it warns (see
  /// nn/initialisation.h).
  template <class... Layers>
  explicit Sequential(Layers... layers) : Callable("Sequential") {
    detail::initialise_in_order({module_in(layers)...});
    (push_back(std::move(layers)), ...);
  }

  template <std::invocable<const Tensor&> Layer>
  void push_back(Layer layer) {
    push_back(std::to_string(size()), std::move(layer));
  }
  /// Throws std::invalid_argument as register_module() does.
  template <std::invocable<const Tensor&> Layer>
  void push_back(const std::string& name, Layer layer) {
    Module module("Function");
    if constexpr (std::is_base_of_v<Module, Layer>) module = layer;
    layers_->push_back({register_module(name, module), std::move(layer)});
  }

  Tensor forward(Tensor x) const {
    for (std::size_t i = 0; i < size(); ++i) {
      if (Tensor y = linear_then_relu(i, x); y.defined()) {
        x = std::move(y);
        ++i;
        continue;
      }
      const Entry& layer = (*layers_)[i];
      try {
        x = layer.function(x);
      } catch (const std::logic_error&) {
        detail::rethrow_from(layer.module);  // also names layers that are plain functions
      }
    }
    return x;
  }

  std::size_t size() const { return layers_->size(); }
  /// Returns layer i as a module, a plain function as an empty one. Throws std::out_of_range.
  Module operator[](std::size_t i) const { return entry(i).module; }
  /// Returns layer i with its own type: `model.at<Linear>(0).weight`. Throws std::out_of_range, or
  /// std::invalid_argument if it has another type.
  template <class Layer>
  Layer& at(std::size_t i) {
    if (auto* found = entry(i).function.template target<Layer>()) return *found;
    halfgrad::detail::fail("Sequential::at", "expected layer {} to have the requested type, got {}",
                           i, (*this)[i].name());
  }

 private:
  struct Entry {
    Module module;
    std::function<Tensor(const Tensor&)> function;
  };

  template <class Layer>
  static const Module* module_in(const Layer& layer) {
    if constexpr (std::is_base_of_v<Module, Layer>) {
      return &layer;
    } else {
      return nullptr;
    }
  }

  /// Returns the output of layers i and i + 1 together, if they are a Linear and a ReLU and nobody
  /// can tell; else an undefined tensor.
  Tensor linear_then_relu(std::size_t i, const Tensor& x) const;

  Entry& entry(std::size_t i) const {
    if (i < size()) return (*layers_)[i];
    halfgrad::detail::fail<std::out_of_range>("Sequential", "expected a layer in [0, {}), got {}",
                                              size(), i);
  }

  std::shared_ptr<std::vector<Entry>> layers_ = std::make_shared<std::vector<Entry>>();
};

}  // namespace halfgrad::nn
