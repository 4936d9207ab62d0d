#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <halfgrad/autograd/graph/grad_scale.h>
#include <halfgrad/autograd/graph/node.h>
#include <halfgrad/autograd/tensor.h>

namespace halfgrad::detail {

/// The nodes of a backward pass that have a gradient and have not run yet, by falling sequence
/// number. The consumers of a node have larger sequence numbers, so the gradient of the first node
/// is complete.
class ReadyNodes {
 public:
  struct Entry {
    std::shared_ptr<Node> node;
    Tensor grad;               // gradient of output 0
    std::vector<Tensor> more;  // for a node of several outputs: their gradients, [0] undefined
    ScaleId scale = kUnknownScale;
  };

  /// The entry of `node`, which is added if it is missing.
  Entry& of(const std::shared_ptr<Node>& node) {
    if (first_.node == node) return first_;
    const std::uint64_t sequence = node->sequence();
    const bool is_first = first_.node != nullptr
                              ? first_.node->sequence() < sequence
                              : others_.empty() || others_.begin()->first < sequence;
    if (is_first && first_.node != nullptr) {
      others_.emplace(first_.node->sequence(), std::move(first_));
    }
    Entry& entry = is_first ? first_ : others_[sequence];
    if (entry.node == nullptr) {
      entry.node = node;
      entry.scale = kUnknownScale;  // no gradient yet
      if (node->outputs() > 1) entry.more.resize(node->outputs());
    }
    return entry;
  }

  bool empty() const { return first_.node == nullptr && others_.empty(); }

  /// Removes the first entry and returns it.
  Entry take_first() {
    if (first_.node == nullptr) {
      first_ = std::move(others_.begin()->second);
      others_.erase(others_.begin());
    }
    return std::move(first_);
  }

  std::vector<Node*> nodes() const {
    std::vector<Node*> nodes;
    if (first_.node != nullptr) nodes.push_back(first_.node.get());
    for (const auto& [sequence, entry] : others_) nodes.push_back(entry.node.get());
    return nodes;
  }

 private:
  Entry first_;  // beside the map, which stays empty while a chain of nodes runs
  std::map<std::uint64_t, Entry, std::greater<>> others_;
};

}  // namespace halfgrad::detail
