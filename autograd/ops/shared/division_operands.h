#pragma once

#include <array>

#include <halfgrad/autograd/graph/elementwise_op.h>

/// Operands of the divisions that round to an integer; the formulas are in rounded_division.h.
namespace halfgrad::detail {

/// Returns both operands in the dtype that they promote to. Promotes before dividing: rounding or
/// wrapping an operand afterwards would change the remainder or the quotient.
std::array<Tensor, 2> in_one_dtype(const Tensor& a, const Tensor& b);

/// Returns the operands of a quotient, integers in one dtype. Throws std::invalid_argument for two
/// bool tensors and, on the CPU, for an integer divisor of 0.
std::array<Tensor, 2> division_operands(const char* op, const Tensor& self, const Tensor& other);

template <class F>
Tensor divide(const F& f, const Tensor& self, const Tensor& other) {
  const auto [a, b] = division_operands(F::name, self, other);
  return apply_elementwise(f, a, b);
}

}  // namespace halfgrad::detail
