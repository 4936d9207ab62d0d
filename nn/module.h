#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfgrad/autograd/module_call.h>
#include <halfgrad/autograd/tensor.h>
#include <halfgrad/nn/construction_order.h>
#include <halfgrad/nn/contained_module.h>
#include <halfgrad/nn/ordered_dict.h>
#include <halfgrad/nn/state_dict.h>
#include <halfgrad/nn/text.h>

namespace halfgrad::nn {

class Module;

namespace detail {

class DrawingOrder;

[[noreturn]] void refuse_empty_module();

/// Registers copies of the parameters and buffers of `from` in `to`, and assigns each to the member
/// that refers to the original. Returns false if one is not among the members, or if `from` has
/// submodules.
bool clone_tensors(const Module& from, Module& to, const std::optional<Device>& device,
                   const std::vector<Tensor*>& members);

/// The object that a parent keeps for a module, a std::shared_ptr to one, or a holder of one.
template <class M>
std::shared_ptr<Module> shared_module(const M& module);

}  // namespace detail

/// Parameters, buffers and submodules by name, as PyTorch's Module. A Module is a handle like a
/// Tensor: copies share everything, so modules are passed, returned and stored by value, or held by
/// std::shared_ptr as in libtorch.
///
///   struct Net : hg::nn::Callable<Net> {
///     hg::nn::Linear hidden = register_module("hidden", hg::nn::Linear(784, 128));
///     hg::nn::Linear output = register_module("output", hg::nn::Linear(128, 10));
///     Tensor forward(const Tensor& x) const { return output(relu(hidden(x))); }
///   };
class Module : public std::enable_shared_from_this<Module> {
 public:
  /// Printing shows `name` and `extra`: "Linear" and "in_features=2, out_features=3". An empty name
  /// stands for that of the class.
  explicit Module(std::string name = "", std::string extra = "");
  Module(const Module&) = default;
  Module(Module&&) = default;
  Module& operator=(const Module&) = default;
  Module& operator=(Module&&) = default;
  virtual ~Module() = default;

  std::string name() const;
  const std::string& extra() const;
  bool is_same(const Module& other) const { return state_ == other.state_; }
  /// An address that all handles of this module share.
  const void* identity() const { return state_.get(); }

  /// Adds its argument to this module and returns it. An undefined tensor (no bias) is not
  /// registered. Throws std::invalid_argument if the name is empty, taken or contains a dot. Also
  /// throws if a parameter is not a leaf, and if `module` contains this module.
  Tensor register_parameter(const std::string& name, Tensor tensor, bool requires_grad = true);
  Tensor register_buffer(const std::string& name, Tensor tensor);
  /// `module` is a module, a std::shared_ptr to one, or a holder of one (nn::ModuleHolder).
  template <class M>
  M register_module(const std::string& name, M module) {
    add_child(name, detail::shared_module(module));
    return module;
  }
  template <class M>
  std::shared_ptr<M> register_module(const std::string& name, std::shared_ptr<M> module) {
    return add_child(name, detail::shared_module(module)), module;
  }

  /// Replace the entry `name` by the argument and return the argument. A layer computes with its
  /// members, so assign the result there:
  ///     head.weight = head.replace_parameter("weight", table.weight);  // tied weights
  /// Copies of the layer that were made before still compute with the old tensor. A parameter keeps
  /// its own requires_grad. Throws std::invalid_argument if there is no such entry, and as the
  /// functions above.
  Tensor replace_parameter(const std::string& name, Tensor tensor);
  Tensor replace_buffer(const std::string& name, Tensor tensor);
  template <class M>
  M replace_module(const std::string& name, M module) {
    replace_child(name, detail::shared_module(module));
    return module;
  }
  /// Removes an entry of any kind. Throws std::invalid_argument if there is none of this name.
  void unregister(const std::string& name);
  void unregister_module(const std::string& name) { unregister(name); }

  /// Lists in the order of registration, a module's own entries before its children's. A tensor or
  /// module that is registered twice is listed once, under its first name.
  std::vector<Tensor> parameters(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_parameters(bool recurse = true) const;
  std::vector<Tensor> buffers(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_buffers(bool recurse = true) const;
  std::vector<std::shared_ptr<Module>> children() const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_children() const;
  /// Lists this module first, under the name `prefix`, unless include_self is false.
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_modules(const std::string& prefix = "",
                                                                  bool include_self = true) const;

  /// This module as a T, or nullptr if it has another type: a submodule keeps its own type.
  ///     for (const auto& module : model.modules()) {
  ///       if (auto* linear = module->as<nn::Linear>()) nn::init::zeros_(linear->bias);
  ///     }
  template <class T>
  auto* as() {
    return dynamic_cast<detail::Contained<T>*>(this);
  }
  template <class T>
  const auto* as() const {
    return dynamic_cast<const detail::Contained<T>*>(this);
  }
  /// Returns a module with parameters and buffers of its own, on `device` if one is given. Throws
  /// std::invalid_argument unless the type of this module says how: Linear, Embedding, the norms,
  /// modules without tensors, Sequential, and classes derived from nn::Cloneable.
  virtual std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const;

  /// Sets training or evaluation mode here and in all submodules, by their own train(): dropout and
  /// batch norm depend on it.
  virtual void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const;

  /// Moves or converts parameters, buffers and existing gradients in place: every Tensor handle,
  /// an optimizer's too, sees the result. A dtype converts only floating-point tensors; throws
  /// std::invalid_argument if it is no floating-point dtype.
  void to(Device device, bool non_blocking = false);
  void to(DType dtype, bool non_blocking = false);
  void to(Device device, DType dtype, bool non_blocking = false);

  /// Resets the gradients to undefined tensors, or fills them with zeros.
  void zero_grad(bool set_to_none = true);

  /// Calls `function` on every module, a parent before its children, as libtorch does.
  void apply(const std::function<void(Module&)>& function);
  void apply(const std::function<void(const std::string& name, Module&)>& function,
             const std::string& prefix = "");
  void apply(const std::function<void(const Module&)>& function) const;
  void apply(const std::function<void(const std::string& name, const Module&)>& function,
             const std::string& prefix = "") const;
  void apply(const std::function<void(const std::shared_ptr<Module>&)>& function) const;
  void apply(
      const std::function<void(const std::string& name, const std::shared_ptr<Module>&)>& function,
      const std::string& prefix = "") const;

  /// Returns parameters and buffers as detached tensors that share their storage.
  StateDict state_dict() const;
  /// Copies the values of `state` into this module, converted to each tensor's dtype and device.
  /// Throws std::invalid_argument, which lists all missing and unexpected names (if strict) and all
  /// differences of shape; the module is then unchanged.
  IncompatibleKeys load_state_dict(const StateDict& state, LoadStateDictOptions options = {});

  /// Write and read parameters and buffers by their names, as libtorch's functions of these names:
  /// the archives are those of compat/serialize.h.
  void save(auto& archive) const { write(archive, *this); }
  void load(auto& archive) { read(archive, *this); }

  /// Prints this module without its submodules, which operator<< adds to the text.
  virtual void pretty_print(std::ostream& out) const;

 protected:
  /// An empty handle, to be assigned before use: `nn::Linear hidden{nullptr};`. Throws
  /// std::invalid_argument when it is used.
  explicit Module(std::nullptr_t) {}
  bool has_state() const { return state_ != nullptr; }
  /// Gives this handle a state of its own without parameters, buffers and submodules.
  void start_anew();
  /// Calls `draw`, which fills this module's parameters with random values, and keeps it: a
  /// Sequential of temporaries repeats the draws of its layers from left to right. `draw` captures
  /// the parameters, not the module: a module that holds itself is never freed.
  void initialise(std::function<void()> draw);

 private:
  friend class detail::DrawingOrder;
  template <class M>
  friend std::shared_ptr<Module> detail::shared_module(const M& module);
  detail::Initialisation& initialisation() const;

  struct State;
  using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
  using Children = std::vector<std::pair<std::string, std::shared_ptr<Module>>>;

  State& existing() const {
    if (state_ == nullptr) detail::refuse_empty_module();
    return *state_;
  }
  void add_child(const std::string& name, std::shared_ptr<Module> module);
  void replace_child(const std::string& name, const std::shared_ptr<Module>& module);
  void check_child(const std::string& name, const Module* module) const;
  void check_name(const std::string& name, const char* op) const;
  /// Lists every path to a module, this module first.
  std::vector<std::pair<std::string, const Module*>> paths(bool recurse = true) const;
  /// The object that was registered, or a new handle.
  std::shared_ptr<Module> shared() const;
  virtual std::shared_ptr<Module> new_handle() const { return std::make_shared<Module>(*this); }
  std::weak_ptr<Module>& registered() const;
  OrderedDict<std::string, Tensor> distinct(NamedTensors State::*list, bool recurse) const;
  void print(std::ostream& out, int depth) const;
  friend std::ostream& operator<<(std::ostream& out, const Module& module);

  std::shared_ptr<State> state_;
};

/// Prints names, options and nesting as PyTorch does.
std::ostream& operator<<(std::ostream& out, const Module& module);

namespace detail {

template <class M>
std::shared_ptr<Module> shared_module(const M& module) {
  if constexpr (std::is_convertible_v<const M&, std::shared_ptr<Module>>) {
    return module;
  } else if constexpr (std::is_base_of_v<Module, M>) {
    std::weak_ptr<Module>& registered = module.registered();
    if (const auto known = std::dynamic_pointer_cast<M>(registered.lock())) return known;
    const auto made = std::make_shared<M>(module);
    registered = made;
    return made;
  } else {
    return module.ptr();
  }
}

/// Rethrows the current exception, which a call of `module` threw. A std::invalid_argument or
/// std::out_of_range gets the path of the innermost module in front of its message, as in
/// "Sequential.2 (Linear): linear: expected ...".
[[noreturn]] void rethrow_from(const Module& module);

}  // namespace detail

/// A module that is called like a function: operator() calls Derived's const forward(). Errors
/// about the arguments name the module that got them. As libtorch's holders it may also be used as
/// a pointer: `linear->weight` is `linear.weight`.
template <class Derived>
class Callable : public Module {
 public:
  using Module::Module;

  Derived* operator->() { return get(); }
  const Derived* operator->() const { return get(); }
  Derived& operator*() { return *get(); }
  const Derived& operator*() const { return *get(); }
  Derived* get() {
    if (is_empty()) detail::refuse_empty_module();
    return static_cast<Derived*>(this);
  }
  const Derived* get() const { return const_cast<Callable*>(this)->get(); }
  /// A new handle of this module.
  std::shared_ptr<Derived> ptr() const { return std::make_shared<Derived>(*get()); }
  bool is_empty() const { return !has_state(); }
  explicit operator bool() const { return has_state(); }

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    return clone_with(device);
  }

  template <class... Args>
  auto operator()(Args&&... args) const {
    if (!has_state()) detail::refuse_empty_module();
    const halfgrad::detail::ModuleCall call(identity());
    try {
      return static_cast<const Derived&>(*this).forward(std::forward<Args>(args)...);
    } catch (const std::logic_error&) {
      detail::rethrow_from(*this);
    }
  }

 protected:
  /// Clones a module without submodules whose tensors are these members.
  std::shared_ptr<Module> clone_with(const std::optional<Device>& device,
                                     std::same_as<Tensor Derived::*> auto... members) const {
    const auto copy = ptr();
    copy->start_anew();
    if (!detail::clone_tensors(*this, *copy, device, {&((*copy).*members)...})) {
      return Module::clone(device);
    }
    return copy;
  }

 private:
  std::shared_ptr<Module> new_handle() const override { return ptr(); }
};

}  // namespace halfgrad::nn
