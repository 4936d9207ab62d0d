#include <halfgrad/autograd/backward.h>

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <unordered_set>

#include <halfgrad/autograd/accumulate.h>
#include <halfgrad/autograd/grad_scale.h>
#include <halfgrad/autograd/leaf_gradients.h>
#include <halfgrad/autograd/node.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/precision.h>
#include <halfgrad/core/running_op.h>
#include <halfgrad/core/scoped_value.h>

namespace halfgrad::autograd {
namespace {

using halfgrad::detail::accumulate;
using halfgrad::detail::accumulate_into_leaf;
using halfgrad::detail::conform;
using halfgrad::detail::Edge;
using halfgrad::detail::gradient_edge;
using halfgrad::detail::kMixedScales;
using halfgrad::detail::kUnknownScale;
using halfgrad::detail::LeafGradients;
using halfgrad::detail::Node;
using halfgrad::detail::OutputInfo;
using halfgrad::detail::run_hooks;
using halfgrad::detail::scale_of_sum;
using halfgrad::detail::ScaleId;
using halfgrad::detail::TensorImpl;

class Run {
 public:
  Run(std::span<const Tensor> roots, std::span<const Tensor> grads, bool retain_graph,
      bool create_graph)
      : retain_graph_(retain_graph || create_graph), grad_mode_(create_graph) {
    if (!grads.empty() && grads.size() != roots.size()) {
      throw std::invalid_argument("backward: expected one gradient per tensor, got " +
                                  std::to_string(grads.size()) + " for " +
                                  std::to_string(roots.size()));
    }
    for (std::size_t i = 0; i < roots.size(); ++i) {
      add_root(roots[i], i < grads.size() ? grads[i] : Tensor());
    }
  }

  // Collects instead of accumulating: gradients of these tensors.
  void capture(const std::vector<Tensor>& inputs, bool leaf_hooks) {
    capture_ = std::make_unique<Capture>();
    capture_->inputs = &inputs;
    capture_->leaf_hooks = leaf_hooks;
    capture_->gradients.resize(inputs.size());
    for (const Tensor& input : inputs) {
      if (!input.is_leaf()) capture_->nodes.insert(input.grad_fn().get());
      capture_->leaves.insert(input.impl().get());
    }
    find_the_way();
  }

  void run() {
    while (find_next()) {
      Entry entry = std::move(next_);
      scale_.now = entry.scale;
      if (entry.more.empty()) {
        evaluate(*entry.node, std::span(&entry.grad, 1));
      } else {
        // A user's function may keep the gradients of its outputs apart.
        if (entry.scale == kMixedScales) scale_.now = kUnknownScale;
        entry.more.front() = std::move(entry.grad);
        evaluate(*entry.node, entry.more);
      }
    }
    for (LeafGradients::Entry& entry : leaves_) deliver(std::move(entry));
  }

  std::vector<Tensor> take_captured() { return std::move(capture_->gradients); }

 private:
  struct Entry {
    std::shared_ptr<Node> node;
    Tensor grad;               // of output 0
    std::vector<Tensor> more;  // of all outputs, when there are several; [0] unused until run
    ScaleId scale = kUnknownScale;
  };

  // What grad() asks for: the tensors, the nodes that made them, and those on the way to them.
  struct Capture {
    const std::vector<Tensor>* inputs = nullptr;
    bool leaf_hooks = true;
    std::vector<Tensor> gradients;
    std::unordered_set<const Node*> nodes;
    std::unordered_set<const TensorImpl*> leaves;
    std::unordered_set<const Node*> on_the_way;
  };

  void add_root(const Tensor& root, Tensor grad) {
    if (!root.requires_grad()) {
      throw std::runtime_error(
          "backward: expected a tensor that requires grad, got one that does not and has no "
          "grad_fn");
    }
    scale_.now = scale_.of_root(grad);
    if (!grad.defined()) {
      if (root.numel() != 1) {
        throw std::runtime_error("backward: expected a gradient argument for a tensor of shape " +
                                 to_string(root.sizes()) +
                                 ", got none; only a tensor of one element may go without");
      }
      grad = Tensor(Array::full(root.sizes(), 1, root.dtype(), root.device()));
    } else if (grad.sizes() != root.sizes()) {
      throw std::invalid_argument("backward: expected a gradient of shape " +
                                  to_string(root.sizes()) + ", got " + to_string(grad.sizes()));
    }
    send(gradient_edge(root), std::move(grad), "backward");
  }

  void send(const Edge& edge, Tensor&& gradient, const char* op) {
    if (edge.node != nullptr) {
      const OutputInfo& info = edge.node->output(edge.output);
      conform(gradient, info.sizes, info.dtype, info.device, op);
      Entry& entry = entry_of(edge.node);
      accumulate(edge.output == 0 ? entry.grad : entry.more[edge.output], std::move(gradient));
      entry.scale = scale_of_sum(entry.scale, scale_.now);
    } else if (edge.leaf != nullptr) {
      const Array& leaf = edge.leaf->array;
      conform(gradient, leaf.sizes(), leaf.dtype(), leaf.device(), op);
      LeafGradients::Entry& entry = leaves_.of(edge.leaf);
      accumulate(entry.gradient, std::move(gradient));
      entry.scale = scale_of_sum(entry.scale, scale_.now);
    }
  }

  Entry& entry_of(const std::shared_ptr<Node>& node) {
    if (next_.node == node) return next_;
    const std::uint64_t sequence = node->sequence();
    const bool first = next_.node != nullptr ? next_.node->sequence() < sequence
                                             : ready_.empty() || ready_.begin()->first < sequence;
    if (first && next_.node != nullptr) {
      ready_.emplace(next_.node->sequence(), std::move(next_));
    }
    Entry& entry = first ? next_ : ready_[sequence];
    if (entry.node == nullptr) {
      entry.node = node;
      entry.scale = kUnknownScale;  // of no gradient yet
      if (node->outputs() > 1) entry.more.resize(node->outputs());
    }
    return entry;
  }

  bool find_next() {
    if (next_.node == nullptr && !ready_.empty()) {
      next_ = std::move(ready_.begin()->second);
      ready_.erase(ready_.begin());
    }
    return next_.node != nullptr;
  }

  void evaluate(Node& node, std::span<Tensor> grads) {
    if (capture_ != nullptr && !is_needed(node)) return;
    for (std::uint32_t i = 0; !node.hooks.empty() && i < grads.size(); ++i) {
      if (grads[i].defined()) run_hooks(node.hooks, i, grads[i]);
    }
    for (const auto& [output, weak] : node.retained) {
      const auto tensor = weak.lock();
      if (tensor != nullptr && grads[output].defined()) {
        const Tensor& grad = grads[output];
        tensor->grad = (tensor->grad ? add(Tensor(tensor->grad), grad) : clone(grad)).impl();
      }
    }
    if (capture_ != nullptr) {
      for (std::size_t i = 0; i < capture_->inputs->size(); ++i) {
        const auto& impl = *(*capture_->inputs)[i].impl();
        if (impl.grad_fn.get() == &node) capture_->gradients[i] = grads[impl.output];
      }
      if (!capture_->on_the_way.contains(&node)) return;
    }
    const auto edges = node.edges();
    Tensor few[4];
    std::vector<Tensor> many(edges.size() > std::size(few) ? edges.size() : 0);
    const std::span<Tensor> grad_inputs(many.empty() ? few : many.data(), edges.size());
    if (node.is_user_function()) {
      node.backward(grads, grad_inputs);
    } else {
      const detail::CastRuleScope no_rule(nullptr);
      const halfgrad::detail::ScopedValue<const char*> running(halfgrad::detail::running_op,
                                                               node.name());
      node.backward(grads, grad_inputs);
    }
    if (!retain_graph_) node.release_saved();
    if (detail::modes.anomaly) check_for_nan(node, grad_inputs);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (grad_inputs[i].defined()) send(edges[i], std::move(grad_inputs[i]), node.name());
    }
  }

  static void check_for_nan(const Node& node, std::span<Tensor> gradients) {
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].defined()) continue;
      if (any(isnan(gradients[i])).item<bool>()) {
        throw std::runtime_error(std::string("backward: expected finite gradients, got nan from "
                                             "the derivative of '") +
                                 node.name() + "' with respect to its input " + std::to_string(i));
      }
    }
  }

  void deliver(LeafGradients::Entry&& entry) {
    if (capture_ == nullptr) {
      run_hooks(entry.leaf->hooks, 0, entry.gradient);
      // A leaf may have been frozen since the forward pass.
      if (!entry.leaf->requires_grad) return;
      accumulate_into_leaf(*entry.leaf, std::move(entry.gradient), entry.scale);
      return;
    }
    if (!capture_->leaves.contains(entry.leaf.get())) return;
    if (capture_->leaf_hooks) run_hooks(entry.leaf->hooks, 0, entry.gradient);
    for (std::size_t i = 0; i < capture_->inputs->size(); ++i) {
      if ((*capture_->inputs)[i].impl() == entry.leaf) capture_->gradients[i] = entry.gradient;
    }
  }

  bool is_needed(const Node& node) const {
    return capture_->nodes.contains(&node) || capture_->on_the_way.contains(&node);
  }

  // Nodes behind which a captured tensor lies; the others need not run.
  void find_the_way() {
    std::map<std::uint64_t, Node*> reachable;  // in recording order: consumers after producers
    std::vector<Node*> stack;
    if (next_.node != nullptr) stack.push_back(next_.node.get());
    for (const auto& [sequence, entry] : ready_) stack.push_back(entry.node.get());
    while (!stack.empty()) {
      Node* const node = stack.back();
      stack.pop_back();
      if (!reachable.emplace(node->sequence(), node).second) continue;
      for (const Edge& edge : node->edges()) {
        if (edge.node != nullptr) stack.push_back(edge.node.get());
      }
    }
    for (const auto& [sequence, node] : reachable) {
      const auto leads_there = [&](const Edge& edge) {
        return edge.node != nullptr ? is_needed(*edge.node)
                                    : capture_->leaves.contains(edge.leaf.get());
      };
      const auto edges = node->edges();
      if (std::any_of(edges.begin(), edges.end(), leads_there)) capture_->on_the_way.insert(node);
    }
  }

  bool retain_graph_;
  AutoGradMode grad_mode_;
  halfgrad::detail::BackwardScale scale_;
  // By falling sequence number: a node's consumers all come before it, so when it is first in line
  // its gradient is complete. The first of all may stand in next_: in a chain each does, and the
  // map stays empty.
  std::map<std::uint64_t, Entry, std::greater<>> ready_;
  Entry next_;
  LeafGradients leaves_;
  std::unique_ptr<Capture> capture_;
};

}  // namespace

void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors,
              BackwardOptions options) {
  backward(std::span(tensors), std::span(grad_tensors), options);
}

void backward(std::span<const Tensor> tensors, std::span<const Tensor> grad_tensors,
              BackwardOptions options) {
  Run(tensors, grad_tensors, options.retain_graph, options.create_graph).run();
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs, GradOptions options) {
  if (inputs.empty()) throw std::invalid_argument("grad: expected inputs, got an empty list");
  for (const Tensor& input : inputs) {
    if (!input.requires_grad()) {
      throw std::runtime_error("grad: expected inputs that require grad, got one that does not");
    }
  }
  std::vector<Tensor> gradients;
  {
    Run run(outputs, grad_outputs, options.retain_graph, options.create_graph);
    run.capture(inputs, options.leaf_hooks);
    run.run();
    gradients = run.take_captured();
  }
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined() && !options.allow_unused) {
      throw std::runtime_error(
          "grad: expected outputs that depend on every input, got none for "
          "input " +
          std::to_string(i) + "; pass allow_unused = true");
    }
  }
  return gradients;
}

}  // namespace halfgrad::autograd
