#pragma once

#include <array>
#include <concepts>
#include <tuple>
#include <utility>

#include <halfgrad/autograd/op_observer.h>
#include <halfgrad/autograd/precision.h>
#include <halfgrad/autograd/tensor.h>

namespace halfgrad::detail {

/// Runs a composition of ops that autocast treats as one op: casts the operands as the cast rule
/// says for `name`, returns compute(operands...) with the rule off, and notifies the observer.
template <class F, std::same_as<Tensor>... In>
Tensor composite(const char* name, Precision precision, const F& compute, const In&... inputs) {
  const std::array<Tensor, sizeof...(In)> given{inputs...};
  std::array<Tensor, sizeof...(In)> operands = given;
  const ObservedOp observed({name, operands});
  cast_operands(name, precision, operands);
  Tensor result;
  {
    const CastRuleScope no_rule(nullptr);
    result = std::apply(compute, operands);
  }
  if (op_observer != nullptr) {
    notify({name, precision, given, operands, result, /*is_composite=*/true});
  }
  return result;
}

}  // namespace halfgrad::detail
