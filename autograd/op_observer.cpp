#include <halfgrad/autograd/op_observer.h>

#include <algorithm>

#include <halfgrad/autograd/graph/grad_scale.h>

namespace halfgrad::detail {
namespace {

bool is_among(const std::vector<OpObserver*>& observers, const OpObserver* observer) {
  return std::ranges::find(observers, observer) != observers.end();
}

/// Calls tell(observer) for each of them that is still installed: one may end the guard of another.
template <class F>
void tell_each(const std::vector<OpObserver*>& observers, const F& tell) {
  for (OpObserver* observer : observers) {
    if (is_among(op_observers(), observer)) tell(*observer);
  }
}

}  // namespace

std::vector<OpObserver*> op_observers() {
  std::vector<OpObserver*> observers;
  bool is_hidden = false;
  ScopeEntry<OpObserver*>::each_value(op_observer, [&](OpObserver* observer) {
    is_hidden = is_hidden || observer == nullptr;
    if (!is_hidden && !is_among(observers, observer)) observers.push_back(observer);
  });
  return observers;
}

void notify(OpCall call) {
  call.in_backward = BackwardScale::is_running();
  tell_each(op_observers(), [&](OpObserver& observer) { observer.ran(call); });
}

void notify_backward(const BackwardCall& call) {
  tell_each(op_observers(), [&](OpObserver& observer) { observer.ran_backward(call); });
}

void notify_leaf(const Tensor& leaf, const Tensor& gradient) {
  tell_each(op_observers(), [&](OpObserver& observer) { observer.received(leaf, gradient); });
}

void ObservedOp::begin(const OpStart& start) {
  started_ = op_observers();
  tell_each(started_, [&](OpObserver& observer) { observer.starts(start); });
}

void ObservedOp::end() {
  tell_each(started_, [](OpObserver& observer) { observer.ends(); });
}

}  // namespace halfgrad::detail
