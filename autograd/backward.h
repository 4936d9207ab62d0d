#pragma once

#include <span>
#include <vector>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad::autograd {

struct BackwardOptions {
  bool retain_graph = false;  ///< keep saved tensors, so that the graph can be used again
  bool create_graph = false;  ///< record the gradient computation itself; implies retain_graph
};

/// Adds to grad() of every leaf the gradients of sum_i <tensors[i], grad_tensors[i]>. A missing
/// grad_tensor is allowed for a tensor of one element and stands for 1.
///
/// With create_graph a leaf's gradient may lead back to the leaf, and the two then keep each other
/// alive until set_grad({}); grad(), below, has no such cycle.
///
/// Runs nodes in the reverse of the order they were recorded in, without recursion. Throws
/// std::runtime_error when a graph was freed, or a saved tensor was changed in place.
void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors = {},
              BackwardOptions options = {});
void backward(std::span<const Tensor> tensors, std::span<const Tensor> grad_tensors,
              BackwardOptions options);

struct GradOptions {
  bool retain_graph = false;
  bool create_graph = false;
  bool allow_unused = false;  ///< return undefined tensors for inputs the outputs do not depend on
  bool leaf_hooks = true;     ///< hooks of inputs that are leaves see, and may replace, gradients
};

/// The same gradients with respect to `inputs` only, returned instead of accumulated. What lies
/// behind the inputs is neither run nor freed.
/// Throws std::runtime_error for an input that is not used, unless allow_unused, and
/// std::invalid_argument for no inputs.
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs = {}, GradOptions options = {});

}  // namespace halfgrad::autograd
