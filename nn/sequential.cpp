#include <halfgrad/nn/sequential.h>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/linear_activation.h>
#include <halfgrad/nn/activation.h>
#include <halfgrad/nn/linear.h>

namespace halfgrad::nn {
namespace {

// True if the cast rule gives linear_relu the operands that it gives linear, and leaves those of
// relu as they are. An observer, or a rule that does not say, makes it false.
bool casts_alike(const Tensor& x) {
  using halfgrad::detail::dtype_after_cast;
  const auto dtype = dtype_after_cast("linear", Precision::tensor_core, x);
  return dtype && dtype == dtype_after_cast("linear_relu", Precision::tensor_core, x) &&
         dtype_after_cast("relu", Precision::any, x) == x.dtype();
}

}  // namespace

Tensor detail::linear_then_relu(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (!x.defined() || !x.is_cuda() || halfgrad::detail::modes.anomaly) return {};
  if (!weight.defined() || !casts_alike(x) || !casts_alike(weight)) return {};
  if (bias.defined() && (bias.dim() > 1 || !casts_alike(bias))) return {};
  try {
    return linear_relu(x, weight, bias);
  } catch (const std::logic_error&) {
    return {};  // linear will throw the same error in its own name
  }
}

Tensor Sequential::pair_from(std::size_t i, const Tensor& x) const {
  if (i + 1 >= size()) return {};
  const auto* const linear = (*layers_)[i].function.target<Linear>();
  if (linear == nullptr || (*layers_)[i + 1].function.target<ReLU>() == nullptr) return {};
  return detail::linear_then_relu(x, linear->weight, linear->bias);
}

}  // namespace halfgrad::nn
