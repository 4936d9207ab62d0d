#pragma once

#include <any>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <halfgrad/autograd/node.h>
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

using variable_list = std::vector<Tensor>;

class AutogradContext;
class FunctionNode;

namespace detail {

using UserBackward = variable_list (*)(AutogradContext*, variable_list);

/// What apply() was given: its tensors, and for each argument whether it is one.
struct Arguments {
  variable_list tensors;
  std::vector<bool> is_tensor;

  void add(const Tensor& tensor) {
    tensors.push_back(tensor);
    is_tensor.push_back(true);
  }
};

/// A node with an edge to every tensor, not yet part of the graph.
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

/// Adds a tensor, an optional one (undefined where it is empty), those in a container, or what is
/// no tensor.
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

/// What forward hands to backward.
class AutogradContext {
 public:
  /// Inputs or outputs of this function; checked for in-place changes when they are read back.
  void save_for_backward(variable_list tensors) { to_save_ = std::move(tensors); }
  /// The saved tensors, connected to the graph. Throws std::runtime_error once they are freed.
  variable_list get_saved_variables() const;
  /// These inputs were changed in place. As outputs they are the same tensors, but now this
  /// function made them. apply() throws std::runtime_error if forward does not return each of them,
  /// and for leaves that require grad, as ops in place do.
  void mark_dirty(const variable_list& inputs) { dirty_ = inputs; }
  /// These outputs get no gradient and do not require one.
  void mark_non_differentiable(const variable_list& outputs) { non_differentiable_ = outputs; }
  /// Whether gradients that did not arrive reach backward as zeros (default) or undefined. Those of
  /// undefined outputs always are undefined.
  void set_materialize_grads(bool value) { materialize_grads_ = value; }
  /// Whether the i-th tensor among the arguments of apply() needs a gradient.
  bool needs_input_grad(std::size_t i) const { return needs_input_grad_.at(i); }

  /// Anything that is not a tensor.
  std::map<std::string, std::any> saved_data;

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

  /// After forward: counts changes in place and, if an input needs a gradient, gives outputs their
  /// place in the graph and saves what forward asked for.
  void finish(const variable_list& inputs, variable_list& outputs);

  const char* name() const override { return name_.c_str(); }
  void backward(std::span<const Tensor> grads, std::span<Tensor> grad_inputs) override;
  void release_saved() override;
  bool is_user_function() const override { return true; }

 private:
  void count_changes(const variable_list& outputs) const;
  variable_list place(const variable_list& inputs, variable_list& outputs);
  variable_list of_tensors(variable_list gradients) const;

  std::string name_;
  std::vector<halfgrad::detail::Edge> edges_store_;
  std::vector<bool> is_tensor_;  // of each argument
  std::vector<bool> defined_outputs_;
  detail::UserBackward backward_;
};

/// Base of a user-defined function. Derived defines static `forward(AutogradContext*, args...)`,
/// returning a Tensor or a variable_list, and static `backward(AutogradContext*, variable_list)`,
/// returning one gradient (undefined for none) per tensor among the arguments, in order, or as in
/// libtorch one per argument, undefined for what is no tensor. Tensors are arguments of type Tensor
/// and std::optional<Tensor>, an empty one too, and the elements of vectors (any range) of these;
/// any other container is one argument without a gradient.
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
