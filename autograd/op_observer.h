#pragma once

#include <span>

#include <halfgrad/autograd/precision.h>
#include <halfgrad/core/scoped_value.h>

/// Inspectors and traces: an OpObserver is notified of every op that this thread runs, forward and
/// backward. Without one, an op costs one comparison more.
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
  virtual void ran(const OpCall& call) = 0;
  virtual void ran_backward(const BackwardCall& /*call*/) {}
  /// A leaf got the sum of its gradients of one backward pass.
  virtual void received(const Tensor& /*leaf*/, const Tensor& /*gradient*/) {}
};

namespace detail {

/// The observer of this thread, or nullptr.
inline thread_local constinit OpObserver* op_observer = nullptr;

/// Tells the observer, which must not be null, of a call; sets its in_backward.
void notify(OpCall call);

}  // namespace detail

/// Notifies `observer`, and no outer one, of this thread's ops until the end of the scope.
class OpObserverGuard : detail::ScopedValue<OpObserver*> {
 public:
  [[nodiscard]] explicit OpObserverGuard(OpObserver& observer)
      : ScopedValue(detail::op_observer, &observer) {}
};

}  // namespace halfgrad
