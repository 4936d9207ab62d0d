#pragma once

#include <string>
#include <utility>

#include <halfgrad/autograd/elementwise_entry.h>

/// Elementwise ops that answer a question: comparisons, logic, isfinite.
namespace halfgrad::detail {

struct Predicate : ElementwiseDefaults {
  static constexpr bool integers = true;
  static constexpr bool boolean_result = true;
  static constexpr bool differentiable = false;
  static constexpr double low = -2, high = 2, roundoffs = 0;

  /// 1 where true, 0 where false.
  template <class T>
  HG_HD static T number(mask_t<T> truth) {
    return select(truth, T(1), T(0));
  }
};

/// With the usual examples, and the same ones drawn as `kind`: random numbers are never equal,
/// integers are.
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
