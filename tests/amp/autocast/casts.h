#pragma once

#include <span>

#include <halfgrad/amp/autocast.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/amp/scaler/tensors.h>

/// Casts as autocast makes them, without an op around them.
namespace halfgrad::amp {

/// An op's operand after the cast for this Precision.
inline Tensor cast_as(Precision precision, Tensor operand) {
  halfgrad::detail::cast_operands("op", precision, std::span(&operand, 1));
  return operand;
}
inline Tensor to_fast(const Tensor& operand) { return cast_as(Precision::tensor_core, operand); }

inline Tensor weight(double value = 2) { return filled({2}, value).requires_grad_(); }

}  // namespace halfgrad::amp
