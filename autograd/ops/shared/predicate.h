#pragma once

#include <utility>

#include <halfgrad/autograd/op_table/elementwise_entry.h>

/// Elementwise ops with a bool result and no gradient: comparisons, logic, isfinite.
namespace halfgrad::detail {

struct Predicate : ElementwiseDefaults {
  static constexpr bool integers = true;
  static constexpr bool boolean_result = true;
  static constexpr bool differentiable = false;
  static constexpr double low = -2, high = 2, roundoffs = 0;

  /// Returns 1 where `truth` holds, else 0.
  template <class T>
  HG_HD static T one_if(mask_t<T> truth) {
    return select(truth, T(1), T(0));
  }
};

/// The table entry of f, with the usual examples and the same ones with operands of `kind`: random
/// floats are never equal, small integers are.
template <class F, class Run>
OpEntry predicate_entry(const F& f, const Run& run,
                        OperandSpec::Kind kind = OperandSpec::Kind::index) {
  OpEntry entry = elementwise_entry(f, run);
  const bool booleans = kind == OperandSpec::Kind::boolean;
  for (OpExample& example : elementwise_examples(f, run, booleans ? "bool, " : "integers, ")) {
    for (OperandSpec& operand : example.operands) operand.kind = kind;
    entry.examples.push_back(std::move(example));
  }
  return entry;
}

}  // namespace halfgrad::detail
