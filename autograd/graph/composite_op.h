#pragma once

#include <array>
#include <concepts>
#include <tuple>
#include <utility>

#include <halfgrad/autograd/precision.h>
#include <halfgrad/autograd/tensor.h>

namespace halfgrad::detail {

/// Runs a composition of ops that autocast treats as one op: casts the operands as the cast rule
/// says for `name`, then returns compute(operands...) with the rule off.
template <class F, std::same_as<Tensor>... In>
Tensor composite(const char* name, Precision precision, const F& compute, const In&... inputs) {
  std::array<Tensor, sizeof...(In)> operands{inputs...};
  cast_operands(name, precision, operands);
  const CastRuleScope no_rule(nullptr);
  return std::apply(compute, operands);
}

}  // namespace halfgrad::detail
