#include <halfgrad/autograd/function.h>

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include <halfgrad/autograd/graph/in_place.h>
#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::autograd {

using halfgrad::detail::fail;
using halfgrad::detail::SavedTensor;

variable_list AutogradContext::get_saved_variables() const {
  variable_list tensors;
  tensors.reserve(saved_.size());
  for (const SavedTensor& saved : saved_) tensors.push_back(saved.unpack(*node_));
  return tensors;
}

namespace {

variable_list::const_iterator position_of(const Tensor& tensor, const variable_list& tensors) {
  return std::find_if(tensors.begin(), tensors.end(),
                      [&](const Tensor& o) { return o.defined() && o.is_same(tensor); });
}

bool contains(const variable_list& tensors, const Tensor& tensor) {
  return position_of(tensor, tensors) != tensors.end();
}

bool needs_gradient(const variable_list& inputs) {
  return GradMode::is_enabled() && halfgrad::detail::any_requires_grad(inputs);
}

}  // namespace

// Bumps the versions of tensors that were changed in place, whether or not a gradient is needed.
void FunctionNode::count_changes(const variable_list& outputs) const {
  for (const Tensor& tensor : context.dirty_) {
    if (!contains(outputs, tensor)) {
      fail<std::runtime_error>(
          name_ + "::forward",
          "expected every tensor of mark_dirty() among the outputs, got one of shape {} that "
          "forward does not return",
          tensor.sizes());
    }
    tensor.array().storage()->bump_version();
  }
}

// Makes this node the grad_fn of the outputs, and returns the tensors that have it. For an input
// that was changed in place it returns another tensor of the same elements: the input may be a
// view.
variable_list FunctionNode::record_outputs(const variable_list& inputs, variable_list& outputs) {
  variable_list recorded;
  for (Tensor& output : outputs) {
    defined_outputs_.push_back(output.defined());
    if (!output.defined()) {
      add_output(Tensor(Array::empty({0}, DType::f32)));
      recorded.push_back(output);
      continue;
    }
    const bool differentiable =
        output.is_floating_point() && !contains(context.non_differentiable_, output);
    const bool is_input = contains(inputs, output);
    const bool is_dirty = is_input && contains(context.dirty_, output);
    const bool gets_node = is_dirty && differentiable;
    const Tensor base =
        gets_node ? halfgrad::detail::recordable(output, name_ + "::forward") : Tensor();
    // An input that is returned becomes a new tensor, or the node would be its own operand.
    const Tensor own = is_input ? output.detach() : output;
    if (differentiable) {
      halfgrad::detail::set_history(own, shared_from_this());
    } else {
      add_output(own);  // so that gradient i belongs to output i
    }
    recorded.push_back(own);
    if (gets_node) {
      halfgrad::detail::rebase(base, output, own);
    } else if (!is_dirty || output.requires_grad()) {
      output = own;
    }
  }
  return recorded;
}

void FunctionNode::finish(const variable_list& inputs, variable_list& outputs) {
  count_changes(outputs);
  if (!needs_gradient(inputs)) return;
  const variable_list recorded = record_outputs(inputs, outputs);
  context.node_ = this;
  for (const Tensor& tensor : context.to_save_) {
    SavedTensor& saved = context.saved_.emplace_back();
    const auto at = position_of(tensor, outputs);
    at != outputs.end() ? saved.save_output(recorded[at - outputs.begin()])
                        : saved.save_input(tensor);
  }
  context.to_save_.clear();
  context.dirty_.clear();
  context.non_differentiable_.clear();
}

void FunctionNode::backward(std::span<const Tensor> grads, std::span<Tensor> grad_inputs) {
  variable_list arrived(grads.begin(), grads.end());
  if (context.materialize_grads_) {
    for (std::size_t i = 0; i < arrived.size(); ++i) {
      if (arrived[i].defined() || !defined_outputs_[i]) continue;
      const auto& info = output(i);
      arrived[i] = Tensor(Array::full(info.sizes, 0, info.dtype, info.device));
    }
  }
  variable_list gradients = gradients_of_tensors(backward_(&context, std::move(arrived)));
  std::move(gradients.begin(), gradients.end(), grad_inputs.begin());
}

// Drops the gradients that backward returned for arguments that are not tensors, and undefined ones
// for arguments that apply() left to their defaults.
variable_list FunctionNode::gradients_of_tensors(variable_list gradients) const {
  const std::size_t tensors = edges_store_.size();
  while (gradients.size() > is_tensor_.size() && !gradients.back().defined()) gradients.pop_back();
  if (gradients.size() == tensors) return gradients;
  if (gradients.size() != is_tensor_.size()) {
    fail<std::runtime_error>(
        name_ + "::backward",
        "expected {} gradients, one per tensor argument, or {}, one per argument, got {}", tensors,
        is_tensor_.size(), gradients.size());
  }
  variable_list kept;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (is_tensor_[i]) {
      kept.push_back(std::move(gradients[i]));
    } else if (gradients[i].defined()) {
      fail<std::runtime_error>(
          name_ + "::backward",
          "expected an undefined gradient for argument {}, which is not a tensor, got one of "
          "shape {}",
          i, gradients[i].sizes());
    }
  }
  return kept;
}

void FunctionNode::release_saved() {
  for (SavedTensor& saved : context.saved_) saved.reset();
}

namespace detail {

std::shared_ptr<FunctionNode> make_function_node(const char* mangled_name,
                                                 const Arguments& arguments,
                                                 UserBackward backward) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(mangled_name, nullptr, nullptr, &status), &std::free);
  std::vector<halfgrad::detail::Edge> edges;
  edges.reserve(arguments.tensors.size());
  for (const Tensor& tensor : arguments.tensors) {
    edges.push_back(halfgrad::detail::gradient_edge(tensor));
  }
  auto node = std::make_shared<FunctionNode>(status == 0 ? readable.get() : mangled_name,
                                             std::move(edges), arguments.is_tensor, backward);
  for (const auto& edge : node->edges()) node->context.needs_input_grad_.push_back(edge.defined());
  return node;
}

}  // namespace detail

}  // namespace halfgrad::autograd
