#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfgrad/core/fail.h>
#include <halfgrad/nn/module.h>
#include <halfgrad/nn/sequential_layer.h>

namespace halfgrad::nn {
class Sequential;

namespace detail {

/// Returns relu(linear(x, weight, bias)) in one launch on a GPU, with the bits of the two layers.
/// Returns an undefined tensor if the layers must run one by one: on a CPU, under an observer, in
/// anomaly mode, if the cast rule treats linear_relu differently, and if linear would throw.
Tensor linear_then_relu(const Tensor& x, const Tensor& weight, const Tensor& bias);

}  // namespace detail

/// A layer with a name, of Sequential({{"hidden", Linear(4, 3)}, {"output", Linear(3, 2)}}).
struct NamedLayer {
  template <class Layer>
  NamedLayer(std::string layer_name, Layer layer);

  std::string name;
  std::function<void(Sequential&, const std::string& name)> push_back;
};

/// A layer of a Sequential: `for (const auto& layer : model) print(layer.ptr()->name());`
struct SequentialLayer {
  using AppendClone =
      std::function<void(Sequential&, const std::string& name, const std::optional<Device>&)>;

  Tensor forward(const Tensor& x) const { return function(x); }
  const std::shared_ptr<Module>& ptr() const { return object; }
  /// Throws std::bad_cast if the layer has another type.
  template <class T>
  detail::Contained<T>& get() const {
    return dynamic_cast<detail::Contained<T>&>(*object);
  }

  Module module;
  std::function<Tensor(const Tensor&)> function;
  std::shared_ptr<Module> object;  ///< with the layer's own type; an empty module for a function
  std::string name;
  AppendClone append_clone;
};

/// Layers applied one after the other, named "0", "1", ... unless given names. A layer is anything
/// that can be called with a Tensor and returns one: a module, or a plain function.
///
/// On a GPU a Linear followed by a ReLU runs as linear_relu: one launch, with the same bits. The
/// layers run one by one while an observer watches, in anomaly mode, and if the cast rule could
/// tell them from linear_relu. The grad_fn of such a pair's output is "linear_relu".
class Sequential : public Callable<Sequential> {
 public:
  template <std::same_as<std::nullptr_t> T>
  Sequential(T empty) : Callable(empty) {}
  /// Layers constructed in the argument list draw their weights from left to right:
  ///     Sequential(Linear(784, 512), ReLU(), Linear(512, 10))
  /// has the weights of two Linear constructed in this order. If the compiler evaluated the
  /// arguments in another order, the constructor repeats the draws; if it can't, it warns (see
  /// nn/construction_order.h).
  template <class... Layers>
  explicit Sequential(Layers... layers) : Callable("Sequential") {
    detail::initialise_in_order({module_in(layers)...});
    (push_back(std::move(layers)), ...);
  }

  Sequential(std::initializer_list<NamedLayer> layers) : Callable("Sequential") {
    for (const NamedLayer& layer : layers) push_back(layer);
  }
  template <class Layer>
  explicit Sequential(const OrderedDict<std::string, Layer>& layers) : Callable("Sequential") {
    for (const auto& [name, layer] : layers) push_back(name, layer);
  }

  /// A handle of the same layers: `Sequential copy = dynamic_pointer_cast<Sequential>(...)`.
  Sequential(const std::shared_ptr<Sequential>& layers)
      : Sequential(layers == nullptr ? Sequential(nullptr) : *layers) {}

  void push_back(const NamedLayer& layer) { layer.push_back(*this, layer.name); }
  template <detail::LayerByCall Layer>
  void push_back(Layer layer) {
    push_back(std::to_string(size()), std::move(layer));
  }
  /// Throws std::invalid_argument as register_module() does.
  template <detail::LayerByCall Layer>
  void push_back(const std::string& name, Layer layer) {
    auto object = std::make_shared<Module>("Function");
    if constexpr (std::is_base_of_v<Module, Layer>) object = detail::shared_module(layer);
    register_module(name, object);
    layers().push_back({*object, layer, object, name, append_clone_of(layer)});
  }
  /// Layers that have a forward() instead: objects of classes derived from Module, by value, by
  /// std::shared_ptr or in an nn::ModuleHolder.
  template <detail::LayerByForward Layer>
  void push_back(Layer layer) {
    push_back(std::to_string(size()), std::move(layer));
  }
  template <detail::LayerByForward Layer>
  void push_back(const std::string& name, Layer layer) {
    const auto object = detail::shared_layer(layer);
    register_module(name, object);
    layers().push_back(
        {*object, detail::function_of(layer, object), object, name, append_clone_of(layer)});
  }
  /// Appends a layer of another Sequential.
  void push_back(const SequentialLayer& layer) {
    const std::string name = std::to_string(size());
    register_module(name, layer.object);
    layers().push_back(layer);
    layers().back().name = name;
  }
  /// Appends the layers of another Sequential, or of a range of layers.
  template <class Range>
  void extend(const Range& layers) {
    for (const auto& layer : layers) push_back(layer);
  }

  Tensor forward(Tensor x) const {
    for (std::size_t i = 0; i < size(); ++i) {
      if (Tensor y = pair_from(i, x); y.defined()) {
        x = std::move(y);
        ++i;
        continue;
      }
      const Entry& layer = layers()[i];
      try {
        x = layer.function(x);
      } catch (const std::logic_error&) {
        detail::rethrow_from(layer.module);  // also names layers that are plain functions
      }
    }
    return x;
  }

  /// libtorch's form, `model->forward<Tensor>(x)`.
  template <std::same_as<Tensor> Result>
  Result forward(const Tensor& x) const {
    return forward(x);
  }

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    const auto copy = std::make_shared<Sequential>();
    for (const Entry& layer : layers()) layer.append_clone(*copy, layer.name, device);
    copy->train(is_training());
    return copy;
  }

  std::size_t size() const { return layers().size(); }
  bool is_empty() const { return !has_state() || layers_->empty(); }
  auto begin() const { return layers().begin(); }
  auto end() const { return layers().end(); }
  /// Returns layer i as a module, a plain function as an empty one. Throws std::out_of_range.
  std::shared_ptr<Module> operator[](std::size_t i) const { return entry(i).object; }
  using Callable::ptr;
  std::shared_ptr<Module> ptr(std::size_t i) const { return entry(i).object; }
  /// Returns layer i with its own type: `model.at<Linear>(0).weight`. Throws std::out_of_range, or
  /// std::invalid_argument if it has another type.
  template <class Layer>
  detail::Contained<Layer>& at(std::size_t i) const {
    using T = detail::Contained<Layer>;
    if (auto* found = entry(i).function.template target<T>()) return *found;
    if (auto* found = dynamic_cast<T*>(entry(i).object.get())) return *found;
    halfgrad::detail::fail("Sequential::at", "expected layer {} to have the requested type, got {}",
                           i, (*this)[i]->name());
  }

 private:
  using Entry = SequentialLayer;

  template <class Layer>
  static Entry::AppendClone append_clone_of(const Layer& layer) {
    return [layer](Sequential& clone, const std::string& name, const std::optional<Device>& to) {
      clone.push_back(name, detail::clone_of(layer, to));
    };
  }

  template <class Layer>
  static const Module* module_in(const Layer& layer) {
    if constexpr (std::is_base_of_v<Module, Layer>) {
      return &layer;
    } else {
      return nullptr;
    }
  }

  /// Returns the output of layers i and i + 1 together, if they are a Linear and a ReLU and no
  /// program can see the difference; else an undefined tensor.
  Tensor pair_from(std::size_t i, const Tensor& x) const;

  // A handle that was moved from has none.
  std::vector<Entry>& layers() const {
    if (layers_ == nullptr) detail::refuse_empty_module();
    return *layers_;
  }

  Entry& entry(std::size_t i) const {
    if (i < size()) return layers()[i];
    halfgrad::detail::fail<std::out_of_range>("Sequential", "expected a layer in [0, {}), got {}",
                                              size(), i);
  }

  std::shared_ptr<std::vector<Entry>> layers_ = std::make_shared<std::vector<Entry>>();
};

template <class Layer>
NamedLayer::NamedLayer(std::string layer_name, Layer layer)
    : name(std::move(layer_name)),
      push_back([layer](Sequential& to, const std::string& key) { to.push_back(key, layer); }) {}

}  // namespace halfgrad::nn
