#pragma once

#include <optional>
#include <span>
#include <vector>

#include <halfgrad/autograd/precision.h>
#include <halfgrad/core/scoped_value.h>

/// Inspectors and traces: an OpObserver is notified of every op that this thread runs, forward and
/// backward. Without one, an op costs one comparison more. With one, ops that would otherwise be
/// fused run one by one, with the same bits: see dtype_after_cast().
namespace halfgrad {

class Tensor;

namespace detail {
class Node;
}

/// One call of an op. The references are valid during the notification.
struct OpCall {
  const char* op;
  Precision precision;
  std::span<const Tensor> inputs;    ///< as the caller gave them
  std::span<const Tensor> operands;  ///< the inputs after autocast's casts: what the op read
  const Tensor& result;
  /// True for a loss that consists of several ops, which were notified before it.
  bool is_composite = false;
  /// True inside a backward pass: sums, casts, and forward functions that a checkpoint runs again.
  bool in_backward = false;
};

/// An op that is about to cast its operands and to run, or to run its part of a backward pass.
struct OpStart {
  const char* op;
  std::span<const Tensor> inputs;      ///< backward: the gradients of the outputs
  const detail::Node* node = nullptr;  ///< backward: the node; nullptr forward
};

/// One op's part of a backward pass. The gradients have the shapes and dtypes of the tensors that
/// they belong to.
struct BackwardCall {
  const detail::Node& node;             ///< *grad_fn() of the op's result
  std::span<const Tensor> grads;        ///< one for each output; undefined: none arrived
  std::span<const Tensor> grad_inputs;  ///< one for each operand; undefined: zero or not needed
};

/// Base of observers. Its functions may run ops on Arrays; ops on Tensors would notify it again.
class OpObserver {
 public:
  virtual ~OpObserver() = default;
  /// Each op but views begins with starts() and ends with ends(). Between them come the same calls
  /// for the ops that it consists of, then ran() or ran_backward(), unless it throws.
  virtual void starts(const OpStart& /*start*/) {}
  virtual void ends() {}
  virtual void ran(const OpCall& call) = 0;
  virtual void ran_backward(const BackwardCall& /*call*/) {}
  /// A leaf got the sum of its gradients of one backward pass.
  virtual void received(const Tensor& /*leaf*/, const Tensor& /*gradient*/) {}
};

namespace detail {

/// The innermost observer of this thread; nullptr if there is none, or inside an OpObserverPause.
inline thread_local constinit OpObserver* op_observer = nullptr;

/// The observers to notify, innermost first, each once: those of the guards in force, up to a
/// pause.
std::vector<OpObserver*> op_observers();

/// Tell the observers of a call, of a part of a backward pass, and of a leaf's gradient. notify()
/// sets the call's in_backward.
void notify(OpCall call);
void notify_backward(const BackwardCall& call);
void notify_leaf(const Tensor& leaf, const Tensor& gradient);

/// Tells the observers that an op starts, and at the end of the scope that it ends.
class ObservedOp {
 public:
  [[nodiscard]] explicit ObservedOp(const OpStart& start) {
    if (op_observer != nullptr) begin(start);
  }
  ~ObservedOp() {
    if (!started_.empty()) end();
  }
  ObservedOp(const ObservedOp&) = delete;
  ObservedOp& operator=(const ObservedOp&) = delete;

 private:
  void begin(const OpStart& start);
  void end();

  std::vector<OpObserver*> started_;  // told of the start
};

}  // namespace detail

/// Notifies `observer`, beside those of outer guards, of this thread's ops until the end of the
/// scope.
class OpObserverGuard {
 public:
  [[nodiscard]] explicit OpObserverGuard(OpObserver& observer) {
    scope_.emplace(detail::op_observer, &observer);
  }
  /// A guard without an observer, for a step that an observer leaves out: it costs nothing.
  [[nodiscard]] static OpObserverGuard of_nobody() { return {}; }

 private:
  OpObserverGuard() = default;

  std::optional<detail::ScopedValue<OpObserver*>> scope_;
};

/// Hides this thread's ops from the observers of outer guards until the end of the scope.
class OpObserverPause : detail::ScopedValue<OpObserver*> {
 public:
  [[nodiscard]] OpObserverPause() : ScopedValue(detail::op_observer, nullptr) {}
};

}  // namespace halfgrad
