#pragma once

#include <string>
#include <string_view>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/graph/op_name.h>
#include <halfgrad/autograd/precision.h>
#include <halfgrad/autograd/tensor.h>

/// In-place changes and the graph: how x.add_(y), and code that writes into a tensor by itself,
/// keep the gradients of `x` correct.
namespace halfgrad::detail {

/// The tensor whose node an in-place change of `target` replaces: `target` itself, or the base that
/// it is a view of. Throws std::runtime_error, naming `op`, for a leaf that requires grad, a view
/// of one, and a view whose base autograd does not know.
Tensor recordable(const Tensor& target, const std::string& op);

/// Updates the graph after the elements of `target` became those of `result`. `base` is
/// recordable(target). It gets the node of `result`, or, if `target` is a view, a node that stores
/// which elements were overwritten. Call this function with grad mode on.
void rebase(const Tensor& base, const Tensor& target, const Tensor& result);

/// Assigns compute() to `target`, which keeps its dtype: the cast rule is off meanwhile.
template <class F>
Tensor& run_in_place(const Tensor& target, const char* op, const F& compute) {
  const CastRuleScope no_rule(nullptr);
  // Refuses before random numbers are drawn or work is done.
  if (GradMode::is_enabled() && target.requires_grad()) static_cast<void>(recordable(target, op));
  std::string_view without(op);
  without.remove_suffix(1);  // the op that compute() calls: "add" of "add_"
  assign_in_place(target, with_op_name(op, without, compute), op);
  return const_cast<Tensor&>(target);  // as in libtorch: the handle itself does not change
}

/// Returns `self`, or a copy of it if backward may read the elements that are about to be
/// overwritten.
inline Tensor operand_for_backward(const Tensor& self, bool other_requires_grad = false) {
  const bool recorded = GradMode::is_enabled() && (self.requires_grad() || other_requires_grad);
  return recorded ? self.clone() : self;
}

/// x.exp_(): assigns function(self), the op of the struct F, to `self`.
template <class F, class Function>
Tensor& apply_in_place(const Tensor& self, const Function& function) {
  const std::string name = std::string(F::name) + '_';
  return run_in_place(self, name.c_str(), [&] {
    constexpr bool kReadsOperand = contains(F::saves, 0);
    return function(kReadsOperand ? operand_for_backward(self) : self);
  });
}

}  // namespace halfgrad::detail
