#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <halfgrad/autograd/graph/node.h>
#include <halfgrad/autograd/graph/tensor_impl.h>

/// Post-accumulate hooks run when a backward pass has added a leaf's gradient to its grad(). A leaf
/// that has one gets its gradient as soon as no later node can change it, while the pass goes on.
/// Other leaves get theirs at the end of the pass.
namespace halfgrad::detail {

/// Hook::output of post-accumulate hooks. What their function returns is not used.
inline constexpr std::uint32_t kAfterAccumulation = UINT32_MAX;

/// An id that no other hook has.
std::uint64_t next_hook_id();

/// Adds such a hook to `leaf`.
std::uint64_t add_post_accumulate_hook(TensorImpl& leaf, std::function<void(const Tensor&)> hook);

/// Runs the post-accumulate hooks of `leaf`.
void run_post_accumulate_hooks(const std::shared_ptr<TensorImpl>& leaf);

/// The leaves with post-accumulate hooks, in the order in which a backward pass completes their
/// gradients. Finding them takes a walk through the graph, which passes make only while some leaf
/// of the program has such a hook.
class FinalLeaves {
 public:
  /// True while some leaf of the program has a post-accumulate hook.
  static bool are_wanted();

  /// Finds the leaves that `nodes` and the nodes behind them send gradients to.
  void find(std::vector<Node*> nodes);

  /// Returns the next leaf that only nodes of larger sequence numbers than `sequence` send
  /// gradients to, or null. Nodes run by falling sequence number, so its gradient is complete.
  const TensorImpl* next_before(std::uint64_t sequence) {
    if (next_ == leaves_.size() || leaves_[next_].last_sender <= sequence) return nullptr;
    return leaves_[next_++].leaf;
  }

 private:
  struct Leaf {
    const TensorImpl* leaf;  // compared, and never read
    std::uint64_t last_sender;
  };

  std::vector<Leaf> leaves_;  // by falling last_sender
  std::size_t next_ = 0;
};

/// A backward pass of this thread, whose hooks may ask for calls at its end.
class BackwardEnd {
 public:
  [[nodiscard]] BackwardEnd();
  ~BackwardEnd();
  BackwardEnd(const BackwardEnd&) = delete;
  BackwardEnd& operator=(const BackwardEnd&) = delete;

  /// Calls the functions, in the order of add(). A pass that throws only destroys them.
  void call();

  /// Adds a function to the innermost pass of this thread, as torch's queue_callback.
  static void add(std::function<void()> function);
  /// True if the innermost pass runs inside another one: a hook or a function has started it.
  static bool is_nested();

 private:
  BackwardEnd* outer_;
  std::vector<std::function<void()>> functions_;
};

}  // namespace halfgrad::detail
