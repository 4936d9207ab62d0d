#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <halfgrad/autograd/module_call.h>
#include <halfgrad/autograd/tensor.h>
#include <halfgrad/nn/initialisation.h>
#include <halfgrad/nn/ordered_dict.h>

namespace halfgrad::nn {

namespace detail {
class DrawingOrder;
}

/// Detached tensors by dotted name, such as "0.weight".
using StateDict = OrderedDict<Tensor>;

struct LoadStateDictOptions {
  bool strict = true;  ///< treats missing and unexpected names as errors
};

/// The names that load_state_dict() did not find in the dictionary, and those in the dictionary
/// that the module does not have.
struct IncompatibleKeys {
  std::vector<std::string> missing_keys;
  std::vector<std::string> unexpected_keys;
};

/// Parameters, buffers and submodules by name, as PyTorch's Module. A Module is a handle like a
/// Tensor: copies share everything, so modules are passed, returned and stored by value.
///
///   struct Net : hg::nn::Callable<Net> {
///     hg::nn::Linear hidden = register_module("hidden", hg::nn::Linear(784, 128));
///     hg::nn::Linear output = register_module("output", hg::nn::Linear(128, 10));
///     Tensor forward(const Tensor& x) const { return output(relu(hidden(x))); }
///   };
class Module {
 public:
  /// Printing shows `name` and `extra`: "Linear" and "in_features=2, out_features=3".
  explicit Module(std::string name = "Module", std::string extra = "");

  const std::string& name() const;
  const std::string& extra() const;
  bool is_same(const Module& other) const { return state_ == other.state_; }
  /// An address that all handles of this module share.
  const void* identity() const { return state_.get(); }

  /// Adds its argument to this module and returns it. An undefined tensor (no bias) is not
  /// registered. Throws std::invalid_argument if the name is empty, taken or contains a dot, if a
  /// parameter is not a leaf, and if a module contains this one.
  Tensor register_parameter(const std::string& name, Tensor tensor, bool requires_grad = true);
  Tensor register_buffer(const std::string& name, Tensor tensor);
  template <class M>
  M register_module(const std::string& name, M module) {
    add_child(name, module);
    return module;
  }

  /// Put the argument in the place of the entry `name` and return it. A layer computes with its
  /// members, so assign the result there:
  ///     head.weight = head.replace_parameter("weight", table.weight);  // tied weights
  /// Copies of the layer that were made before still compute with the old tensor. A parameter keeps
  /// its own requires_grad. Throws std::invalid_argument if there is no such entry, and as the
  /// functions above.
  Tensor replace_parameter(const std::string& name, Tensor tensor);
  Tensor replace_buffer(const std::string& name, Tensor tensor);
  template <class M>
  M replace_module(const std::string& name, M module) {
    replace_child(name, module);
    return module;
  }
  /// Removes the parameter, buffer or submodule `name`. Throws std::invalid_argument if there is
  /// none.
  void unregister(const std::string& name);

  /// Lists in the order of registration, a module's own entries before its children's. A tensor or
  /// module that is registered twice is listed once, under its first name.
  std::vector<Tensor> parameters(bool recurse = true) const;
  OrderedDict<Tensor> named_parameters(bool recurse = true) const;
  std::vector<Tensor> buffers(bool recurse = true) const;
  OrderedDict<Tensor> named_buffers(bool recurse = true) const;
  std::vector<Module> children() const;
  OrderedDict<Module> named_children() const;
  /// Lists this module first, under the name "".
  std::vector<Module> modules() const;
  OrderedDict<Module> named_modules() const;

  /// Sets training or evaluation mode here and in all submodules: dropout and batch norm depend on
  /// it.
  void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const;

  /// Moves or converts parameters, buffers and existing gradients in place: every Tensor handle,
  /// an optimizer's too, sees the result. A dtype converts only floating-point tensors; throws
  /// std::invalid_argument if it is no floating-point dtype.
  void to(Device device);
  void to(DType dtype);

  /// Resets the gradients to undefined tensors, or fills them with zeros.
  void zero_grad(bool set_to_none = true);

  /// Calls `function` on every module, children before their parent.
  void apply(const std::function<void(Module&)>& function);

  /// Returns parameters and buffers as detached tensors that share their storage.
  StateDict state_dict() const;
  /// Copies the values of `state` into this module, converted to each tensor's dtype and device.
  /// Throws std::invalid_argument, which lists all missing and unexpected names (if strict) and all
  /// differences of shape; the module is then unchanged.
  IncompatibleKeys load_state_dict(const StateDict& state, LoadStateDictOptions options = {});

 protected:
  /// Calls `draw`, which fills this module's parameters with random values, and keeps it: a
  /// Sequential of temporaries repeats the draws of its layers from left to right. `draw` captures
  /// the parameters, not the module: a module that holds itself is never freed.
  void initialise(std::function<void()> draw);

 private:
  friend class detail::DrawingOrder;
  detail::Initialisation& initialisation() const;

  struct State;
  using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
  using ModuleList = std::vector<std::pair<std::string, Module>>;

  void add_child(const std::string& name, const Module& module);
  void replace_child(const std::string& name, const Module& module);
  void check_child(const std::string& name, const Module& module) const;
  void check_name(const std::string& name, const char* op) const;
  /// Lists every path to a module, this module first.
  ModuleList paths(bool recurse = true) const;
  OrderedDict<Tensor> distinct(NamedTensors State::*list, bool recurse) const;
  void print(std::ostream& out, int depth) const;
  friend std::ostream& operator<<(std::ostream& out, const Module& module);

  std::shared_ptr<State> state_;
};

/// Prints names, options and nesting as PyTorch does.
std::ostream& operator<<(std::ostream& out, const Module& module);

namespace detail {

/// Rethrows the current exception, which a call of `module` threw. A std::invalid_argument or
/// std::out_of_range gets the path of the innermost module in front of its message, as in
/// "Sequential.2 (Linear): linear: expected ...".
[[noreturn]] void rethrow_from(const Module& module);

}  // namespace detail

/// A module that is called like a function: operator() calls Derived's const forward(). Errors
/// about the arguments name the module that got them.
template <class Derived>
class Callable : public Module {
 public:
  using Module::Module;

  template <class... Args>
  auto operator()(Args&&... args) const {
    const halfgrad::detail::ModuleCall call(identity());
    try {
      return static_cast<const Derived&>(*this).forward(std::forward<Args>(args)...);
    } catch (const std::logic_error&) {
      detail::rethrow_from(*this);
    }
  }
};

namespace detail {

/// Prints the parts one after the other into a string, for the description of a layer's options.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  out << std::boolalpha;
  (out << ... << parts);
  return out.str();
}

}  // namespace detail

}  // namespace halfgrad::nn
