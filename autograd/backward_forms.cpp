#include <halfgrad/autograd/backward.h>

#include <unordered_set>
#include <vector>

#include <halfgrad/core/fail.h>

// libtorch's forms of backward() and grad(), in terms of the forms with options.
namespace halfgrad::autograd {

void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors,
              std::optional<bool> retain_graph, bool create_graph) {
  backward(tensors, grad_tensors,
           BackwardOptions{retain_graph.value_or(create_graph), create_graph});
}

void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors,
              std::optional<bool> retain_graph, bool create_graph,
              const std::vector<Tensor>& inputs) {
  if (inputs.empty()) {
    halfgrad::detail::fail("backward", "expected inputs, got {}", "an empty list");
  }
  std::vector<Tensor> distinct;
  std::unordered_set<const void*> seen;
  for (const Tensor& input : inputs) {
    if (seen.insert(input.impl().get()).second) distinct.push_back(input);
  }
  grad(tensors, distinct, grad_tensors,
       GradOptions{.retain_graph = retain_graph.value_or(create_graph),
                   .create_graph = create_graph,
                   .allow_unused = true,
                   .accumulate = true});
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs, std::optional<bool> retain_graph,
                         bool create_graph, bool allow_unused) {
  return grad(outputs, inputs, grad_outputs,
              GradOptions{.retain_graph = retain_graph.value_or(create_graph),
                          .create_graph = create_graph,
                          .allow_unused = allow_unused});
}

}  // namespace halfgrad::autograd
