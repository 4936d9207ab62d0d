#pragma once

#include <halfgrad/autograd/composed/widened.h>
#include <halfgrad/autograd/function.h>

namespace halfgrad::detail {

/// The elementwise function F::value(x), whose derivative is F::slope(x). The value is computed
/// outside the graph. The slope records gradients of its own, so it can be differentiated again.
template <class F>
struct WithSlope : autograd::Function<WithSlope<F>> {
  static Tensor forward(autograd::AutogradContext* context, const Tensor& x) {
    context->save_for_backward({x});
    return F::value(x);
  }
  static autograd::variable_list backward(autograd::AutogradContext* context,
                                          const autograd::variable_list& dy) {
    return {dy[0] * F::slope(context->get_saved_variables()[0])};
  }
};

/// Returns WithSlope<F> of `self`, computed in float64 and rounded once; see widened().
template <class F>
Tensor with_slope(const char* name, Precision precision, const Tensor& self) {
  const auto compute = [](const Tensor& x) { return WithSlope<F>::apply(x); };
  return widened(name, precision, kFloat64, compute, self);
}

}  // namespace halfgrad::detail
