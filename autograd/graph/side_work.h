#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/core/stream.h>

/// Work of a captured backward pass on a second stream.
///
/// A linear layer's backward computes dX, for which the layer before waits, and dW, for which
/// nothing waits until the pass ends. One stream runs them one after the other. In a captured graph
/// dW goes to a second stream, so the GPU may run it at the same time. (Outside of a graph, the
/// events that order two streams would cost the host more time than that saves.)
namespace halfgrad::detail {

class Node;

/// The side work of one backward pass.
class SideWork {
 public:
  explicit SideWork(bool enabled);
  ~SideWork();
  SideWork(const SideWork&) = delete;
  SideWork& operator=(const SideWork&) = delete;

  /// True if run() uses the second stream in the innermost pass of this thread.
  static bool is_enabled();
  /// Calls `queue`, which queues work on the current stream and returns its results: with the side
  /// stream current if is_enabled(). The operands stay alive until the pass has waited.
  static void run(const std::vector<Array>& operands,
                  const std::function<std::vector<Array>()>& queue);
  /// Makes the current stream wait for all results of run(). Call it before reading one.
  static void join();

  /// Call it before the backward of `node`, which gets these gradients: joins if it may read one
  /// that nothing has waited for.
  void before(const Node& node, const Tensor& gradient, const std::vector<Tensor>& more) const;
  /// True if nothing has waited for this gradient yet.
  bool is_pending(const Tensor& gradient) const;

 private:
  struct Job {
    std::vector<Array> operands;
    std::vector<std::shared_ptr<Storage>> results;
    Event done;
  };

  SideWork* outer_;
  bool enabled_;
  std::vector<Job> jobs_;  // not waited for, a few; unlike a deque, an empty vector has no memory
};

/// True for the node of a cast, whose backward hands its gradient on without reading it.
bool is_cast(const Node& node);

}  // namespace halfgrad::detail
