#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <vector>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad::detail {

/// bool or std::optional<bool>, without conversions.
template <class T>
concept OptionalBool = std::same_as<T, bool> || std::same_as<T, std::optional<bool>> ||
    std::same_as<T, std::nullopt_t>;

}  // namespace halfgrad::detail

namespace halfgrad::autograd {

struct BackwardOptions {
  bool retain_graph = false;  ///< keep saved tensors, so that the graph can be used again
  bool create_graph = false;  ///< record the gradient computation itself; implies retain_graph
};

/// Computes the gradients of sum_i <tensors[i], grad_tensors[i]> and adds them to grad() of every
/// leaf. A grad_tensor may be missing for a tensor of one element; it counts as 1.
///
/// With create_graph the graph of a leaf's gradient may contain the leaf. The two then keep each
/// other alive until set_grad({}). grad(), below, makes no such cycle.
///
/// Runs the nodes in the reverse of the order in which they were recorded, without recursion.
/// Throws std::runtime_error if a graph was freed, or a saved tensor was changed in place.
void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors = {},
              BackwardOptions options = {});
void backward(std::span<const Tensor> tensors, std::span<const Tensor> grad_tensors,
              BackwardOptions options);

/// libtorch's form, with separate arguments: retain_graph is as create_graph when absent. Adds the
/// gradients to grad() of every leaf, or of `inputs` only. Throws std::invalid_argument if these
/// are an empty list.
void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors,
              std::optional<bool> retain_graph, bool create_graph);
void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors,
              std::optional<bool> retain_graph, bool create_graph,
              const std::vector<Tensor>& inputs);
void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors,
              halfgrad::detail::OptionalBool auto retain_graph) {
  backward(tensors, grad_tensors, std::optional<bool>(retain_graph), false);
}

struct GradOptions {
  bool retain_graph = false;
  bool create_graph = false;
  bool allow_unused = false;  ///< return undefined tensors for inputs the outputs do not depend on
  bool leaf_hooks = true;     ///< run the hooks of inputs that are leaves
  bool accumulate = false;    ///< add the gradients to grad() of the inputs, and return none
};

/// Returns the gradients with respect to `inputs` instead of accumulating them. Nodes that are not
/// on a path from an output to an input are neither run nor freed. Throws std::runtime_error for an
/// input that is not used, unless allow_unused is set, and std::invalid_argument for no inputs.
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs = {}, GradOptions options = {});
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs, std::optional<bool> retain_graph,
                         bool create_graph, bool allow_unused = false);
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs,
                         halfgrad::detail::OptionalBool auto retain_graph) {
  return grad(outputs, inputs, grad_outputs, std::optional<bool>(retain_graph), false);
}

}  // namespace halfgrad::autograd
