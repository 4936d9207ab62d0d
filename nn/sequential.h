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

#include <halfgrad/nn/module.h>

namespace halfgrad::nn {

/// Layers applied one after the other, named "0", "1", ... unless given names. A layer is anything
/// that can be called with a Tensor and returns one: a module, or a plain function.
class Sequential : public Callable<Sequential> {
 public:
  /// Layers made in the argument list draw their weights from left to right, in parentheses as in
  /// braces and with every compiler: Sequential(Linear(784, 512), ReLU(), Linear(512, 10)) has the
  /// weights that two Linear made in this order have. The constructor repeats their draws where the
  /// compiler took another order, and warns where it can't (see nn/initialisation.h).
  template <class... Layers>
  explicit Sequential(Layers... layers) : Callable("Sequential") {
    detail::initialise_in_order({module_in(layers)...});
    (push_back(std::move(layers)), ...);
  }

  template <std::invocable<const Tensor&> Layer>
  void push_back(Layer layer) {
    push_back(std::to_string(size()), std::move(layer));
  }
  /// Throws std::invalid_argument as register_module.
  template <std::invocable<const Tensor&> Layer>
  void push_back(const std::string& name, Layer layer) {
    Module module("Function");
    if constexpr (std::is_base_of_v<Module, Layer>) module = layer;
    layers_->push_back({register_module(name, module), std::move(layer)});
  }

  Tensor forward(Tensor x) const {
    for (const Entry& layer : *layers_) {
      try {
        x = layer.function(x);
      } catch (const std::logic_error&) {
        detail::rethrow_from(layer.module);  // names plain functions, too
      }
    }
    return x;
  }

  std::size_t size() const { return layers_->size(); }
  /// Layer i as a module; a plain function shows as one without contents. Throws std::out_of_range.
  Module operator[](std::size_t i) const { return entry(i).module; }
  /// Layer i as what it is: `model.at<Linear>(0).weight`. Throws std::out_of_range, or
  /// std::invalid_argument when it is something else.
  template <class Layer>
  Layer& at(std::size_t i) {
    if (auto* found = entry(i).function.template target<Layer>()) return *found;
    throw std::invalid_argument("Sequential::at: expected a layer of the type asked for, got " +
                                (*this)[i].name());
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

  Entry& entry(std::size_t i) const {
    if (i < size()) return (*layers_)[i];
    throw std::out_of_range("Sequential: expected a layer in [0, " + std::to_string(size()) +
                            "), got " + std::to_string(i));
  }

  std::shared_ptr<std::vector<Entry>> layers_ = std::make_shared<std::vector<Entry>>();
};

}  // namespace halfgrad::nn
