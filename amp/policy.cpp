#include <halfgrad/amp/policy.h>

#include <algorithm>

#include <halfgrad/core/fail.h>

namespace halfgrad::amp {
namespace {

// float32 if any operand is float32, else the region's dtype. The other 16-bit dtype is an error,
// as the two have no common 16-bit dtype, unless a float32 operand before it has decided already.
DType widest(const char* op, std::span<const Tensor> operands, DeviceType type, DType fast) {
  for (const Tensor& operand : operands) {
    if (!is_eligible(operand, type)) continue;
    if (operand.dtype() == kFloat) return kFloat;
    if (operand.dtype() != fast) {
      halfgrad::detail::fail<std::runtime_error>(
          op, "expected operands of float32 or {} in this autocast region, got {}", fast,
          operand.dtype());
    }
  }
  return fast;
}

bool any_on(std::span<const Tensor> operands, DeviceType type) {
  return std::any_of(operands.begin(), operands.end(), [type](const Tensor& operand) {
    return operand.defined() && operand.device().type() == type;
  });
}

[[noreturn]] void refuse(const char* op) {
  halfgrad::detail::fail<std::runtime_error>(
      op,
      "expected a call outside autocast, got one in an enabled region: its gradient may not fit 16 "
      "bits; use {}_with_logits, which is safe",
      op);
}

}  // namespace

bool is_eligible(const Tensor& tensor, DeviceType type) {
  return tensor.defined() && tensor.is_floating_point() && tensor.dtype() != kDouble &&
         tensor.device().type() == type;
}

Casts decide(const char* op, Precision precision, std::span<Tensor> operands, DeviceType type,
             DType fast) {
  switch (precision) {
    case Precision::any:
      return {};
    case Precision::tensor_core:
      return {operands, fast};
    case Precision::wide_range:
      return {operands, kFloat};
    case Precision::wide_accumulate:
      return {operands.first(1), kFloat};
    case Precision::widest_operand:
      return {operands, widest(op, operands, type, fast)};
    case Precision::unsafe:
      if (any_on(operands, type)) refuse(op);
      return {};
  }
  halfgrad::detail::fail<std::logic_error>("decide",
                                           "expected a precision, got an unknown enumerator");
}

}  // namespace halfgrad::amp
