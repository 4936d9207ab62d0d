#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include <halfgrad/autograd/graph/node.h>
#include <halfgrad/core/deferred.h>

namespace halfgrad::detail {

/// The gradient that an op of a backward pass has not computed yet, because the next node may
/// compute it and its own gradient in one kernel (pending_product.h). It waits for that node, but
/// not while user code runs, which could change what it is computed from.
class WaitingGradient {
 public:
  /// Lets `gradient`, on its way along `edge`, wait; computes it if `is_seen`, or if user code runs
  /// before the backward of the edge's node.
  void offer(const Edge& edge, const Tensor& gradient, bool is_seen) {
    const std::shared_ptr<Deferred>& deferred = gradient.impl()->deferred;
    if (deferred == nullptr) return;
    const bool may_wait = !is_seen && waiting_ == nullptr && edge.node != nullptr &&
                          edge.node->outputs() == 1 && edge.node->retained.empty() &&
                          !runs_user_code(*edge.node);
    if (may_wait) {
      waiting_ = deferred;
    } else {
      deferred->settle();
    }
  }

  /// True while a gradient waits: then nothing may change what it is computed from.
  bool is_waiting() const { return waiting_ != nullptr; }

  /// Calls run(), the backward of `node`, whose gradient is `grad`. The gradient that waits is
  /// computed before, unless it is `grad` or goes on waiting, and after it, if run() has not.
  template <class F>
  void around(const Node& node, const Tensor& grad, const F& run) {
    if (waiting_ == nullptr) return run();
    const bool is_for_node = grad.defined() && grad.impl()->deferred == waiting_;
    if (!is_for_node && goes_on_waiting(node)) return run();
    const std::shared_ptr<Deferred> deferred = std::exchange(waiting_, nullptr);
    if (!is_for_node) deferred->settle();
    run();
    deferred->settle();
  }

 private:
  static bool runs_user_code(const Node& node) {
    return !node.hooks.empty() || node.is_user_function();
  }

  // The cast of a weight, for example, runs between the product that reads the cast weight and the
  // node that receives the product.
  static bool goes_on_waiting(const Node& node) {
    const auto is_leaf = [](const Edge& edge) { return edge.node == nullptr; };
    const auto edges = node.edges();
    return !runs_user_code(node) && std::all_of(edges.begin(), edges.end(), is_leaf);
  }

  std::shared_ptr<Deferred> waiting_;
};

}  // namespace halfgrad::detail
