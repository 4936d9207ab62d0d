#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/graph/post_accumulate.h>
#include <halfgrad/autograd/ops.h>

// libtorch's forms of backward() and grad(), in terms of the forms with options.
namespace halfgrad::autograd {

using halfgrad::detail::BackwardEnd;
using halfgrad::detail::run_post_accumulate_hooks;

void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors,
              std::optional<bool> retain_graph, bool create_graph,
              const std::vector<Tensor>& inputs) {
  const bool retain = retain_graph.value_or(create_graph);
  if (inputs.empty()) {
    return backward(tensors, grad_tensors,
                    BackwardOptions{.retain_graph = retain, .create_graph = create_graph});
  }
  BackwardEnd end;
  const std::vector<Tensor> gradients =
      grad(tensors, inputs, grad_tensors, retain_graph, create_graph, /*allow_unused=*/true);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!gradients[i].defined()) continue;
    const AutoGradMode mode(create_graph);
    const Tensor old = inputs[i].grad();
    inputs[i].set_grad(old.defined() ? old + gradients[i] : gradients[i]);
    if (inputs[i].is_leaf()) run_post_accumulate_hooks(inputs[i].impl());
  }
  end.call();
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
