#include <halfgrad/autograd/backward.h>

#include <optional>
#include <stdexcept>
#include <typeinfo>
#include <utility>

#include <halfgrad/autograd/graph/accumulate.h>
#include <halfgrad/autograd/graph/captured_gradients.h>
#include <halfgrad/autograd/graph/gradient_memory.h>
#include <halfgrad/autograd/graph/post_accumulate.h>
#include <halfgrad/autograd/graph/ready_nodes.h>
#include <halfgrad/autograd/graph/scaled_loss.h>
#include <halfgrad/autograd/graph/side_work.h>
#include <halfgrad/autograd/graph/waiting_gradient.h>
#include <halfgrad/autograd/op_observer.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/precision.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/running_op.h>
#include <halfgrad/core/scoped_value.h>

namespace halfgrad::autograd {
namespace {

using halfgrad::detail::accumulate;
using halfgrad::detail::accumulate_into_leaf;
using halfgrad::detail::BackwardEnd;
using halfgrad::detail::CapturedGradients;
using halfgrad::detail::conform;
using halfgrad::detail::conform_to_leaf;
using halfgrad::detail::Edge;
using halfgrad::detail::fail;
using halfgrad::detail::FinalLeaves;
using halfgrad::detail::gradient_edge;
using halfgrad::detail::kMixedScales;
using halfgrad::detail::kUnknownScale;
using halfgrad::detail::LeafGradients;
using halfgrad::detail::Node;
using halfgrad::detail::notify_backward;
using halfgrad::detail::notify_leaf;
using halfgrad::detail::op_observer;
using halfgrad::detail::OutputInfo;
using halfgrad::detail::ReadyNodes;
using halfgrad::detail::run_hooks;
using halfgrad::detail::run_post_accumulate_hooks;
using halfgrad::detail::scale_of_sum;
using halfgrad::detail::ScaledLossNode;
using halfgrad::detail::SideWork;
using halfgrad::detail::TensorImpl;
using halfgrad::detail::WaitingGradient;

// One backward pass.
class BackwardPass {
 public:
  BackwardPass(std::span<const Tensor> roots, std::span<const Tensor> grads, bool retain_graph,
               bool create_graph)
      : retain_graph_(retain_graph || create_graph), grad_mode_(create_graph) {
    if (!grads.empty() && grads.size() != roots.size()) {
      fail("backward", "expected one gradient per tensor, got {} for {}", grads.size(),
           roots.size());
    }
    for (std::size_t i = 0; i < roots.size(); ++i) {
      const bool later = roots.size() == 1 && grads.empty();
      add_root(roots[i], i < grads.size() ? grads[i] : Tensor(), later);
    }
  }

  // Handles the gradients of these tensors only, as the options say.
  void capture(const std::vector<Tensor>& inputs, const GradOptions& options) {
    captured_.emplace(inputs, options.leaf_hooks, options.accumulate);
    captured_->find_paths(ready_.nodes());
  }

  void run() {
    const SideWork side(!captured_ && op_observer == nullptr && !GradMode::is_enabled() &&
                        !detail::modes.anomaly);
    const detail::ScopedValue<bool> take(detail::may_take_gradient_memory, !captured_);
    if (!captured_ && FinalLeaves::are_wanted()) final_leaves_.find(ready_.nodes());
    while (!ready_.empty()) {
      ReadyNodes::Entry entry = ready_.take_first();
      deliver_final(entry.node->sequence());
      side.before(*entry.node, entry.grad, entry.more);
      scale_.now = entry.scale;
      waiting_.around(*entry.node, entry.grad, [&] { process(entry); });
    }
    SideWork::join();
    for (LeafGradients::Entry& entry : leaves_) {
      if (entry.leaf != nullptr) deliver(std::move(entry));
    }
    end_.call();
  }

  std::vector<Tensor> take_captured() { return std::move(captured_->gradients); }

 private:
  // If `later`, leaves it to process() to make a gradient of 1, which may turn out unnecessary.
  void add_root(const Tensor& root, Tensor grad, bool later) {
    if (!root.requires_grad()) {
      fail<std::runtime_error>("backward", "expected a tensor that requires grad, got {}",
                               "one that does not and has no grad_fn");
    }
    scale_.now = scale_.of_root(grad);
    if (!grad.defined()) {
      if (root.numel() != 1) {
        fail<std::runtime_error>("backward",
                                 "expected a gradient argument for a tensor of shape {}, got none; "
                                 "only a tensor of one element may go without",
                                 root.sizes());
      }
      const auto& node = root.grad_fn();
      if (later && node != nullptr && node->outputs() == 1) {
        ready_.of(node).scale = scale_.now;
        return;
      }
      grad = Tensor(Array::full(root.sizes(), 1, root.dtype(), root.device()));
    } else if (grad.sizes() != root.sizes()) {
      fail("backward", "expected a gradient of shape {}, got {}", root.sizes(), grad.sizes());
    }
    const Edge edge = gradient_edge(root);
    conform_to(edge, grad, "backward");
    send(edge, std::move(grad));
  }

  void conform_to(const Edge& edge, Tensor& gradient, const char* op) const {
    if (edge.node != nullptr) {
      const OutputInfo& info = edge.node->output(edge.output);
      conform(gradient, info.sizes, info.dtype, info.device, op);
    } else if (edge.leaf != nullptr) {
      conform_to_leaf(gradient, *edge.leaf, !captured_ && op_observer == nullptr, op);
    }
  }

  void send(const Edge& edge, Tensor&& gradient) {
    if (edge.node != nullptr) {
      ReadyNodes::Entry& entry = ready_.of(edge.node);
      accumulate(edge.output == 0 ? entry.grad : entry.more[edge.output], std::move(gradient));
      entry.scale = scale_of_sum(entry.scale, scale_.now);
    } else if (edge.leaf != nullptr) {
      LeafGradients::Entry& entry = leaves_.of(edge.leaf);
      accumulate(entry.gradient, std::move(gradient));
      entry.scale = scale_of_sum(entry.scale, scale_.now);
    }
  }

  void process(ReadyNodes::Entry& entry) {
    if (entry.more.empty()) {
      if (!entry.grad.defined()) {  // a root whose gradient of 1 add_root() has not made
        if (pass_on_scale(*entry.node)) return;
        const OutputInfo& one = entry.node->output(0);
        entry.grad = Tensor(Array::full(one.sizes, 1, one.dtype, one.device));
      }
      evaluate(*entry.node, std::span(&entry.grad, 1));
    } else {
      // A user's function may use the gradients of its outputs separately.
      if (entry.scale == kMixedScales) scale_.now = kUnknownScale;
      entry.more.front() = std::move(entry.grad);
      evaluate(*entry.node, entry.more);
    }
  }

  // Sends the scale as the gradient of the loss, for a scaled loss whose gradient is 1. Returns
  // false if a hook, an observer or an input must see the 1, or a graph or anomaly mode the node.
  bool pass_on_scale(Node& node) {
    if (typeid(node) != typeid(ScaledLossNode)) return false;  // faster than a dynamic_cast
    auto* const scaled = static_cast<ScaledLossNode*>(&node);
    if (captured_ || op_observer != nullptr || GradMode::is_enabled() || detail::modes.anomaly ||
        !scaled->is_unobserved()) {
      return false;
    }
    const Edge edge = scaled->edges()[0];
    Tensor scale = scaled->gradient_of_one();
    if (!retain_graph_) scaled->release_saved();
    // Copies the scale otherwise: it may become the grad() of a leaf, which the user may change.
    const bool only_read = edge.node != nullptr && edge.node->only_reads_gradient() &&
                           edge.node->hooks.empty() && edge.node->retained.empty();
    send(edge, only_read ? std::move(scale) : clone(scale));
    return true;
  }

  void evaluate(Node& node, std::span<Tensor> grads) {
    if (captured_ && !captured_->needs_gradients_of(node)) return;
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
    if (captured_) {
      captured_->store(node, grads);
      if (!captured_->needs_backward_of(node)) return;
    }
    run_backward(node, grads);
  }

  void run_backward(Node& node, std::span<const Tensor> grads) {
    const halfgrad::detail::ObservedOp observed({node.name(), grads, &node});
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
    if (detail::modes.anomaly) halfgrad::detail::refuse_nan(node.name(), grad_inputs);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (grad_inputs[i].defined()) conform_to(edges[i], grad_inputs[i], node.name());
    }
    if (op_observer != nullptr) notify_backward({node, grads, grad_inputs});
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (!grad_inputs[i].defined()) continue;
      waiting_.offer(edges[i], grad_inputs[i], captured_.has_value());
      send(edges[i], std::move(grad_inputs[i]));
    }
  }

  // Delivers the gradients that are complete before a node of this sequence number runs, if a
  // post-accumulate hook wants them. The hook might change the operands of a waiting gradient.
  void deliver_final(std::uint64_t sequence) {
    if (waiting_.is_waiting()) return;
    while (const TensorImpl* const leaf = final_leaves_.next_before(sequence)) {
      LeafGradients::Entry* const entry = leaves_.find(leaf);
      if (entry == nullptr) continue;  // no gradient reached it
      SideWork::join();
      deliver(std::exchange(*entry, {}));
    }
  }

  void deliver(LeafGradients::Entry&& entry) {
    if (op_observer != nullptr) notify_leaf(Tensor(entry.leaf), entry.gradient);
    if (captured_) return captured_->store(entry);
    run_hooks(entry.leaf->hooks, 0, entry.gradient);
    // A leaf may have been frozen since the forward pass.
    if (!entry.leaf->requires_grad) return;
    accumulate_into_leaf(*entry.leaf, std::move(entry.gradient), entry.scale);
    run_post_accumulate_hooks(entry.leaf);
  }

  bool retain_graph_;
  AutoGradMode grad_mode_;
  halfgrad::detail::BackwardScale scale_;
  ReadyNodes ready_;
  WaitingGradient waiting_;
  LeafGradients leaves_;
  FinalLeaves final_leaves_;
  BackwardEnd end_;
  std::optional<CapturedGradients> captured_;
};

}  // namespace

void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors,
              BackwardOptions options) {
  backward(std::span(tensors), std::span(grad_tensors), options);
}

void backward(std::span<const Tensor> tensors, std::span<const Tensor> grad_tensors,
              BackwardOptions options) {
  BackwardPass(tensors, grad_tensors, options.retain_graph, options.create_graph).run();
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs, GradOptions options) {
  if (inputs.empty()) fail("grad", "expected inputs, got {}", "an empty list");
  for (const Tensor& input : inputs) {
    if (!input.requires_grad()) {
      fail<std::runtime_error>("grad", "expected inputs that require grad, got {}",
                               "one that does not");
    }
  }
  std::vector<Tensor> gradients;
  {
    BackwardPass pass(outputs, grad_outputs, options.retain_graph, options.create_graph);
    pass.capture(inputs, options);
    pass.run();
    gradients = pass.take_captured();
  }
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined() && !options.allow_unused) {
      fail<std::runtime_error>(
          "grad",
          "expected outputs that depend on every input, got none for input {}; "
          "pass allow_unused = true",
          i);
    }
  }
  return gradients;
}

}  // namespace halfgrad::autograd
