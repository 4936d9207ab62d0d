#include <halfgrad/autograd/graph/captured_gradients.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include <halfgrad/autograd/graph/accumulate.h>
#include <halfgrad/autograd/graph/post_accumulate.h>

namespace halfgrad::detail {

CapturedGradients::CapturedGradients(const std::vector<Tensor>& inputs, bool leaf_hooks,
                                     bool accumulates)
    : gradients(inputs.size()),
      inputs_(inputs),
      leaf_hooks_(leaf_hooks),
      accumulates_(accumulates) {
  for (const Tensor& input : inputs) {
    if (!input.is_leaf()) nodes_.insert(input.grad_fn().get());
    leaves_.insert(input.impl().get());
  }
}

bool CapturedGradients::needs_gradients_of(const Node& node) const {
  return nodes_.contains(&node) || on_path_.contains(&node);
}

void CapturedGradients::find_paths(std::vector<Node*> roots) {
  std::map<std::uint64_t, Node*> reachable;  // in the order of recording: producers come first
  while (!roots.empty()) {
    Node* const node = roots.back();
    roots.pop_back();
    if (!reachable.emplace(node->sequence(), node).second) continue;
    for (const Edge& edge : node->edges()) {
      if (edge.node != nullptr) roots.push_back(edge.node.get());
    }
  }
  const auto leads_to_input = [&](const Edge& edge) {
    return edge.node != nullptr ? needs_gradients_of(*edge.node)
                                : leaves_.contains(edge.leaf.get());
  };
  for (const auto& [sequence, node] : reachable) {
    const auto edges = node->edges();
    if (std::any_of(edges.begin(), edges.end(), leads_to_input)) on_path_.insert(node);
  }
}

void CapturedGradients::store(const Node& node, std::span<const Tensor> grads) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    TensorImpl& impl = *inputs_[i].impl();
    if (impl.grad_fn.get() != &node) continue;
    const Tensor& gradient = grads[impl.output];
    if (!accumulates_) {
      gradients[i] = gradient;
    } else if (gradient.defined() && !inputs_[i].retains_grad()) {
      accumulate_into_leaf(impl, gradient, kUnknownScale);
    }
  }
}

void CapturedGradients::store(LeafGradients::Entry& leaf) {
  if (!leaves_.contains(leaf.leaf.get())) return;
  if (leaf_hooks_) run_hooks(leaf.leaf->hooks, 0, leaf.gradient);
  if (accumulates_) {
    accumulate_into_leaf(*leaf.leaf, std::move(leaf.gradient), leaf.scale);
    run_post_accumulate_hooks(leaf.leaf);
    return;
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].impl() == leaf.leaf) gradients[i] = leaf.gradient;
  }
}

}  // namespace halfgrad::detail
