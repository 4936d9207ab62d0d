#pragma once

#include <any>
#include <map>
#include <memory>
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

/// A node with an edge to every input, not yet part of the graph.
std::shared_ptr<FunctionNode> make_function_node(const char* mangled_name,
                                                 const variable_list& inputs,
                                                 UserBackward backward);
bool should_record(const variable_list& inputs);

}  // namespace detail

/// What forward hands to backward.
class AutogradContext {
 public:
  /// Inputs or outputs of this function; checked for in-place changes when they are read back.
  void save_for_backward(variable_list tensors) { to_save_ = std::move(tensors); }
  /// The saved tensors, connected to the graph. Throws std::runtime_error once they are freed.
  variable_list get_saved_variables() const;
  /// These outputs get no gradient and do not require one.
  void mark_non_differentiable(const variable_list& outputs) { non_differentiable_ = outputs; }
  /// Whether gradients that did not arrive reach backward as zeros (default) or undefined.
  void set_materialize_grads(bool value) { materialize_grads_ = value; }
  /// Whether the i-th tensor argument of apply() needs a gradient.
  bool needs_input_grad(std::size_t i) const { return needs_input_grad_.at(i); }

  /// Anything that is not a tensor.
  std::map<std::string, std::any> saved_data;

 private:
  friend class FunctionNode;
  friend std::shared_ptr<FunctionNode> detail::make_function_node(const char*, const variable_list&,
                                                                  detail::UserBackward);

  variable_list to_save_;
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
               detail::UserBackward backward)
      : Node(edges), name_(std::move(name)), edges_store_(std::move(edges)), backward_(backward) {}

  AutogradContext context;

  /// Gives outputs their place in the graph and saves what forward asked for.
  void finish(const variable_list& inputs, variable_list& outputs);

  const char* name() const override { return name_.c_str(); }
  void backward(std::span<const Tensor> grads, std::span<Tensor> grad_inputs) override;
  void release_saved() override;
  bool is_user_function() const override { return true; }

 private:
  std::string name_;
  std::vector<halfgrad::detail::Edge> edges_store_;
  detail::UserBackward backward_;
};

/// Base of a user-defined function. Derived defines static `forward(AutogradContext*, args...)`,
/// returning a Tensor or a variable_list, and static `backward(AutogradContext*, variable_list)`,
/// returning one gradient (undefined for none) per Tensor argument, in order.
template <class Derived>
struct Function {
  template <class... Args>
  static auto apply(Args&&... args) {
    variable_list inputs;
    const auto collect = [&inputs](const auto& argument) {
      if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, Tensor>) {
        inputs.push_back(argument);
      }
    };
    (collect(args), ...);
    const auto node = detail::make_function_node(
        typeid(Derived).name(), inputs,
        [](auto* c, auto g) { return Derived::backward(c, std::move(g)); });
    const auto run = [&] {
      const NoGradGuard no_grad;
      return Derived::forward(&node->context, std::forward<Args>(args)...);
    };
    auto result = run();
    constexpr bool kSingle = std::is_same_v<decltype(result), Tensor>;
    if (detail::should_record(inputs)) {
      variable_list outputs;
      if constexpr (kSingle) {
        outputs.push_back(result);
      } else {
        outputs = result;
      }
      node->finish(inputs, outputs);
      if constexpr (kSingle) {
        result = outputs[0];
      } else {
        result = outputs;
      }
    }
    return result;
  }
};

}  // namespace halfgrad::autograd
