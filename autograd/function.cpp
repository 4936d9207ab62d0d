#include <halfgrad/autograd/function.h>

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include <halfgrad/autograd/op.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad::autograd {

using halfgrad::detail::SavedTensor;

variable_list AutogradContext::get_saved_variables() const {
  variable_list tensors;
  tensors.reserve(saved_.size());
  for (const SavedTensor& saved : saved_) tensors.push_back(saved.unpack(*node_));
  return tensors;
}

namespace {

bool contains(const variable_list& tensors, const Tensor& tensor) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](const Tensor& other) { return other.is_same(tensor); });
}

}  // namespace

void FunctionNode::finish(const variable_list& inputs, variable_list& outputs) {
  for (Tensor& output : outputs) {
    if (!output.defined()) continue;
    // An input handed through is a new tensor in the graph, or the node would feed itself.
    if (contains(inputs, output)) output = output.detach();
    const bool differentiable =
        output.is_floating_point() && !contains(context.non_differentiable_, output);
    if (differentiable) {
      halfgrad::detail::set_history(output, shared_from_this());
    } else {
      add_output(output);  // keeps the numbering of gradients that of the outputs
    }
  }
  context.node_ = this;
  for (const Tensor& tensor : context.to_save_) {
    SavedTensor& saved = context.saved_.emplace_back();
    contains(outputs, tensor) ? saved.save_output(tensor) : saved.save_input(tensor);
  }
  context.to_save_.clear();
  context.non_differentiable_.clear();
}

void FunctionNode::backward(std::span<const Tensor> grads, std::span<Tensor> grad_inputs) {
  variable_list arrived(grads.begin(), grads.end());
  if (context.materialize_grads_) {
    for (std::size_t i = 0; i < arrived.size(); ++i) {
      if (arrived[i].defined()) continue;
      const auto& info = output(i);
      arrived[i] = Tensor(Array::full(info.sizes, 0, info.dtype, info.device));
    }
  }
  variable_list gradients = backward_(&context, std::move(arrived));
  if (gradients.size() != grad_inputs.size()) {
    throw std::runtime_error(name_ + "::backward: expected one gradient per tensor argument (" +
                             std::to_string(grad_inputs.size()) + "), got " +
                             std::to_string(gradients.size()));
  }
  std::move(gradients.begin(), gradients.end(), grad_inputs.begin());
}

void FunctionNode::release_saved() {
  for (SavedTensor& saved : context.saved_) saved.reset();
}

namespace detail {

bool should_record(const variable_list& inputs) {
  return GradMode::is_enabled() && halfgrad::detail::any_requires_grad(inputs);
}

std::shared_ptr<FunctionNode> make_function_node(const char* mangled_name,
                                                 const variable_list& inputs,
                                                 UserBackward backward) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(mangled_name, nullptr, nullptr, &status), &std::free);
  std::vector<halfgrad::detail::Edge> edges;
  edges.reserve(inputs.size());
  for (const Tensor& input : inputs) edges.push_back(halfgrad::detail::gradient_edge(input));
  auto node = std::make_shared<FunctionNode>(status == 0 ? readable.get() : mangled_name,
                                             std::move(edges), backward);
  for (const auto& edge : node->edges()) node->context.needs_input_grad_.push_back(edge.defined());
  return node;
}

}  // namespace detail

}  // namespace halfgrad::autograd
