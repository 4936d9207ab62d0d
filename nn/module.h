#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

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
  bool strict = true;  ///< missing and unexpected names are errors
};

/// What load_state_dict did not find in the dictionary, and found in it but had no use for.
struct IncompatibleKeys {
  std::vector<std::string> missing_keys;
  std::vector<std::string> unexpected_keys;
};

/// Parameters, buffers and submodules under names: PyTorch's Module. A handle like Tensor: copies
/// share everything, so modules are passed, returned and stored by value.
///
///   struct Net : hg::nn::Callable<Net> {
///     hg::nn::Linear hidden = register_module("hidden", hg::nn::Linear(784, 128));
///     hg::nn::Linear output = register_module("output", hg::nn::Linear(128, 10));
///     Tensor forward(const Tensor& x) const { return output(relu(hidden(x))); }
///   };
class Module {
 public:
  /// `name` and `extra` are what printing shows: "Linear" and "in_features=2, out_features=3".
  explicit Module(std::string name = "Module", std::string extra = "");

  const std::string& name() const;
  bool is_same(const Module& other) const { return state_ == other.state_; }

  /// Each adds to this module and returns its argument. The name must be new, not empty and without
  /// dots, and a module must not be or contain this one; else std::invalid_argument. An undefined
  /// tensor (no bias) is not registered.
  Tensor register_parameter(const std::string& name, Tensor tensor, bool requires_grad = true);
  Tensor register_buffer(const std::string& name, Tensor tensor);
  template <class M>
  M register_module(const std::string& name, M module) {
    add_child(name, module);
    return module;
  }

  /// In order of registration, a module's own before its children's; a tensor or module reached
  /// twice is listed under its first name.
  std::vector<Tensor> parameters(bool recurse = true) const;
  OrderedDict<Tensor> named_parameters(bool recurse = true) const;
  std::vector<Tensor> buffers(bool recurse = true) const;
  OrderedDict<Tensor> named_buffers(bool recurse = true) const;
  std::vector<Module> children() const;
  OrderedDict<Module> named_children() const;
  /// This module first, under the name "".
  std::vector<Module> modules() const;
  OrderedDict<Module> named_modules() const;

  /// Sets the mode of this module and all below it: dropout and batch norm behave differently.
  void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const;

  /// Moves or converts parameters, buffers and existing gradients in place: every Tensor handle,
  /// an optimizer's too, sees the result. To a dtype: only what is floating point; throws
  /// std::invalid_argument for other dtypes.
  void to(Device device);
  void to(DType dtype);

  /// Drops the gradients, or overwrites them with zeros.
  void zero_grad(bool set_to_none = true);

  /// Calls `function` on every module, children before their parent.
  void apply(const std::function<void(Module&)>& function);

  /// Parameters and buffers, sharing their storage.
  StateDict state_dict() const;
  /// Copies values in, converted to each tensor's dtype and device. Throws std::invalid_argument,
  /// listing all missing and unexpected names (when strict) and all differences of shape, and then
  /// has changed nothing.
  IncompatibleKeys load_state_dict(const StateDict& state, LoadStateDictOptions options = {});

 protected:
  /// Calls `draw`, which fills parameters of this module with random numbers, and remembers it: a
  /// Sequential that is made of temporaries repeats the draws of its layers from left to right.
  /// `draw` holds the parameters, not the module, which would keep itself alive.
  void initialise(std::function<void()> draw);

 private:
  friend class detail::DrawingOrder;
  detail::Initialisation& initialisation() const;

  struct State;
  using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
  using ModuleList = std::vector<std::pair<std::string, Module>>;

  void add_child(const std::string& name, const Module& module);
  void check_name(const std::string& name, const char* op) const;
  /// Every path to a module, this one first.
  ModuleList paths(bool recurse = true) const;
  OrderedDict<Tensor> distinct(NamedTensors State::*list, bool recurse) const;
  void print(std::ostream& out, int depth) const;
  friend std::ostream& operator<<(std::ostream& out, const Module& module);

  std::shared_ptr<State> state_;
};

/// The names, options and nesting, as PyTorch prints them.
std::ostream& operator<<(std::ostream& out, const Module& module);

namespace detail {

/// For a handler of what a call of `module` threw. Throws a std::invalid_argument or
/// std::out_of_range again with the path of the innermost module in front of its message, as in
/// "Sequential.2 (Linear): linear: expected ...", and all else as it is.
[[noreturn]] void rethrow_from(const Module& module);

}  // namespace detail

/// A module called like a function: operator() is Derived's const forward. Errors about its
/// arguments name the module that was given them.
template <class Derived>
class Callable : public Module {
 public:
  using Module::Module;

  template <class... Args>
  auto operator()(Args&&... args) const {
    try {
      return static_cast<const Derived&>(*this).forward(std::forward<Args>(args)...);
    } catch (const std::logic_error&) {
      detail::rethrow_from(*this);
    }
  }
};

namespace detail {

/// The parts as printed, one after the other: describes a layer's options.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  out << std::boolalpha;
  (out << ... << parts);
  return out.str();
}

}  // namespace detail

}  // namespace halfgrad::nn
