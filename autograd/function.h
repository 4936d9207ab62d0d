#pragma once

#include <any>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <halfgrad/autograd/graph/node.h>
#include <halfgrad/autograd/tensor.h>

/// User-defined differentiable functions, as torch::autograd::Function:
///
///   struct Cube : hg::autograd::Function<Cube> {
///     static Tensor forward(AutogradContext* ctx, Tensor x) {
///       ctx->save_for_backward({x});
///       return x * x * x;
///     }
///     static variable_list backward(AutogradContext* ctx, variable_list grads) {
///       const Tensor x = ctx->get_saved_variables()[0];
///       return {grads[0] * x * x * 3};
///     }
///   };
///   Tensor y = Cube::apply(x);
namespace halfgrad::autograd {

using Variable = Tensor;  ///< libtorch's former name

using variable_list = std::vector<Tensor>;

class AutogradContext;
class FunctionNode;

namespace detail {

using UserBackward = variable_list (*)(AutogradContext*, variable_list);

/// The arguments of apply(): the tensors among them, and for each argument whether it is one.
struct Arguments {
  variable_list tensors;
  std::vector<bool> is_tensor;

  void add(const Tensor& tensor) {
    tensors.push_back(tensor);
    is_tensor.push_back(true);
  }
};

/// Makes a node with an edge to every tensor; it is not yet part of the graph.
std::shared_ptr<FunctionNode> make_function_node(const char* mangled_name,
                                                 const Arguments& arguments, UserBackward backward);

template <class T>
inline constexpr bool kIsTensorOrOptional =
    std::is_same_v<T, Tensor> || std::is_same_v<T, std::optional<Tensor>>;

template <class T>
constexpr bool holds_tensors() {
  if constexpr (std::ranges::input_range<T>) {
    return kIsTensorOrOptional<std::ranges::range_value_t<T>>;
  } else {
    return false;
  }
}

/// Adds an argument: a tensor, an optional tensor (undefined if it is empty), a container of
/// tensors, or any other type.
template <class Argument>
void collect(Arguments& arguments, const Argument& argument) {
  if constexpr (std::is_same_v<Argument, Tensor>) {
    arguments.add(argument);
  } else if constexpr (std::is_same_v<Argument, std::optional<Tensor>>) {
    arguments.add(argument.value_or(Tensor()));
  } else if constexpr (holds_tensors<const Argument>()) {
    for (const auto& element : argument) collect(arguments, element);
  } else {
    arguments.is_tensor.push_back(false);
  }
}

}  // namespace detail

/// A value of any type that forward saved: std::any_cast reads it, or one of libtorch's functions.
/// Each throws std::bad_any_cast for another type.
class SavedValue : public std::any {
 public:
  using std::any::any;
  SavedValue(const char* text) : std::any(std::string(text)) {}

  // NOLINTBEGIN(readability-identifier-naming): libtorch's names
  std::int64_t toInt() const { return number<std::int64_t>(); }
  double toDouble() const { return number<double>(); }
  bool toBool() const { return std::any_cast<bool>(*this); }
  Tensor toTensor() const { return std::any_cast<Tensor>(*this); }
  const std::string& toStringRef() const { return std::any_cast<const std::string&>(*this); }
  std::vector<std::int64_t> toIntVector() const { return vector<std::int64_t>(); }
  std::vector<double> toDoubleVector() const { return vector<double>(); }
  std::vector<Tensor> toTensorVector() const { return vector<Tensor>(); }
  // NOLINTEND(readability-identifier-naming)

 private:
  template <class T>
  std::vector<T> vector() const {
    return std::any_cast<const std::vector<T>&>(*this);
  }
  template <class T>
  T number() const {
    if (const auto* value = std::any_cast<int>(this)) return static_cast<T>(*value);
    if (const auto* value = std::any_cast<std::int64_t>(this)) return static_cast<T>(*value);
    if constexpr (std::is_floating_point_v<T>) {
      if (const auto* value = std::any_cast<float>(this)) return *value;
    }
    return std::any_cast<T>(*this);
  }
};

/// Passes tensors and other values from forward to backward.
class AutogradContext {
 public:
  /// Saves inputs or outputs of this function. Reading them back checks for in-place changes.
  void save_for_backward(variable_list tensors) { to_save_ = std::move(tensors); }
  /// The saved tensors, connected to the graph. Throws std::runtime_error once they are freed.
  variable_list get_saved_variables() const;
  /// Declares that forward changed these inputs in place. They keep their identity as outputs, and
  /// this function becomes their grad_fn. apply() throws std::runtime_error if forward does not
  /// return each of them, and for leaves that require grad, as in-place ops do.
  void mark_dirty(const variable_list& inputs) { dirty_ = inputs; }
  /// Declares that these outputs have no gradient: they will not require grad.
  void mark_non_differentiable(const variable_list& outputs) { non_differentiable_ = outputs; }
  /// Chooses whether backward gets zeros (default) or an undefined tensor for an output without a
  /// gradient. The gradient of an undefined output is always undefined.
  void set_materialize_grads(bool value) { materialize_grads_ = value; }
  /// Whether the i-th tensor among the arguments of apply() needs a gradient.
  bool needs_input_grad(std::size_t i) const { return needs_input_grad_.at(i); }

  /// Values that are not tensors.
  std::map<std::string, SavedValue> saved_data;

 private:
  friend class FunctionNode;
  friend std::shared_ptr<FunctionNode> detail::make_function_node(const char*,
                                                                  const detail::Arguments&,
                                                                  detail::UserBackward);

  variable_list to_save_;
  variable_list dirty_;
  variable_list non_differentiable_;
  std::vector<bool> needs_input_grad_;
  std::vector<halfgrad::detail::SavedTensor> saved_;
  halfgrad::detail::Node* node_ = nullptr;
  bool materialize_grads_ = true;
};

/// The node of a user-defined function.
class FunctionNode final : public halfgrad::detail::Node {
 public:
  FunctionNode(std::string name, std::vector<halfgrad::detail::Edge> edges,
               std::vector<bool> is_tensor, detail::UserBackward user_backward)
      : Node(edges),
        name_(std::move(name)),
        edges_store_(std::move(edges)),
        is_tensor_(std::move(is_tensor)),
        backward_(user_backward) {}

  AutogradContext context;

  /// Completes apply() after forward. Bumps the versions of changed inputs. If an input needs a
  /// gradient, records the outputs in the graph and saves the tensors of save_for_backward().
  void finish(const variable_list& inputs, variable_list& outputs);

  const char* name() const override { return name_.c_str(); }
  void backward(std::span<const Tensor> grads, std::span<Tensor> grad_inputs) override;
  void release_saved() override;
  bool is_user_function() const override { return true; }

 private:
  void count_changes(const variable_list& outputs) const;
  variable_list record_outputs(const variable_list& inputs, variable_list& outputs);
  variable_list gradients_of_tensors(variable_list gradients) const;

  std::string name_;
  std::vector<halfgrad::detail::Edge> edges_store_;
  std::vector<bool> is_tensor_;  // one per argument
  std::vector<bool> defined_outputs_;
  detail::UserBackward backward_;
};

/// Base of a user-defined function. Derived defines two static functions:
///
///   forward(AutogradContext*, args...)          returns a Tensor or a variable_list
///   backward(AutogradContext*, variable_list)   takes one gradient per output, returns gradients
///
/// backward returns one gradient per tensor among the arguments, in order, undefined for none; or,
/// as in libtorch, one per argument, undefined for those that are not tensors. Arguments of type
/// Tensor and std::optional<Tensor> are tensors, as are the elements of a range of these. Any other
/// container is one argument without a gradient.
template <class Derived>
struct Function {
  template <class... Args>
  static auto apply(Args&&... args) {
    detail::Arguments arguments;
    (detail::collect(arguments, args), ...);
    const auto node = detail::make_function_node(
        typeid(Derived).name(), arguments,
        [](auto* c, auto g) { return Derived::backward(c, std::move(g)); });
    const auto run = [&] {
      const NoGradGuard no_grad;
      return Derived::forward(&node->context, std::forward<Args>(args)...);
    };
    auto result = run();
    if constexpr (std::is_same_v<decltype(result), Tensor>) {
      variable_list outputs{std::move(result)};
      node->finish(arguments.tensors, outputs);
      return outputs[0];
    } else {
      variable_list outputs(std::move(result));
      node->finish(arguments.tensors, outputs);
      return outputs;
    }
  }
};

}  // namespace halfgrad::autograd
