#pragma once

#include <span>
#include <unordered_set>
#include <vector>

#include <halfgrad/autograd/graph/leaf_gradients.h>
#include <halfgrad/autograd/graph/node.h>
#include <halfgrad/autograd/tensor.h>

namespace halfgrad::detail {

/// The gradients that autograd::grad() returns, or adds to grad() of its inputs. An input is a leaf
/// or the output of a node.
class CapturedGradients {
 public:
  /// `inputs` must outlive this object. `leaf_hooks`: run the hooks of inputs that are leaves.
  /// `accumulates`: add each gradient to grad() of its input instead of keeping it.
  CapturedGradients(const std::vector<Tensor>& inputs, bool leaf_hooks, bool accumulates);

  /// Finds the nodes on the paths from `roots` to the inputs.
  void find_paths(std::vector<Node*> roots);

  /// Whether the gradients of the node's outputs are needed, and whether its backward is.
  bool needs_gradients_of(const Node& node) const;
  bool needs_backward_of(const Node& node) const { return on_path_.contains(&node); }

  /// Stores the gradients of inputs that `node` made.
  void store(const Node& node, std::span<const Tensor> grads);
  /// Stores the gradient of a leaf, if it is an input.
  void store(LeafGradients::Entry& leaf);

  std::vector<Tensor> gradients;  ///< one per input, undefined if no gradient reached it

 private:
  const std::vector<Tensor>& inputs_;
  bool leaf_hooks_, accumulates_;
  std::unordered_set<const Node*> nodes_;  // made an input
  std::unordered_set<const TensorImpl*> leaves_;
  std::unordered_set<const Node*> on_path_;
};

}  // namespace halfgrad::detail
