#pragma once

#include <array>
#include <concepts>
#include <tuple>
#include <utility>

#include <halfgrad/autograd/precision.h>
#include <halfgrad/autograd/tensor.h>

namespace halfgrad::detail {

/// A composition of ops that counts as one op: its operands are cast as the rule says for `name`,
/// and what `compute(operands...)` does with them is not cast again.
template <class F, std::same_as<Tensor>... In>
Tensor composite(const char* name, Precision precision, const F& compute, const In&... inputs) {
  std::array<Tensor, sizeof...(In)> operands{inputs...};
  cast_operands(name, precision, operands);
  const CastRuleScope no_rule(nullptr);
  return std::apply(compute, operands);
}

}  // namespace halfgrad::detail
