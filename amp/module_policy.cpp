#include <halfgrad/amp/module_policy.h>

#include <string_view>

namespace halfgrad {

void detail::ComputeRule::cast(const char* op, Precision, std::span<Tensor> operands) {
  if (op == std::string_view("to")) return;  // conversions in the module, and the casts below
  for (Tensor& operand : operands) {
    if (operand.defined() && !operand.impl()->is_scalar)
      operand = amp::cast_floating(operand, dtype);
  }
}

Tensor amp::cast_floating(const Tensor& tensor, DType dtype) {
  return tensor.is_floating_point() ? to(tensor, dtype) : tensor;
}

}  // namespace halfgrad
