#pragma once

#include <array>

#include <halfgrad/autograd/elementwise_op.h>

/// What divisions that round have in common but for their formulas (rounded_division.h).
namespace halfgrad::detail {

/// Both in the dtype that they promote to. A remainder is another one where an operand has more
/// digits than that, a quotient of integers where one has not wrapped around yet.
std::array<Tensor, 2> in_one_dtype(const Tensor& a, const Tensor& b);

/// The operands of a quotient, integers in one dtype. Throws std::invalid_argument for two bool
/// tensors and, on a CPU, for integers by 0.
std::array<Tensor, 2> division_operands(const char* op, const Tensor& self, const Tensor& other);

template <class F>
Tensor divide(const F& f, const Tensor& self, const Tensor& other) {
  const auto [a, b] = division_operands(F::name, self, other);
  return apply_elementwise(f, a, b);
}

}  // namespace halfgrad::detail
