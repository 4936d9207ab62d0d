#include <halfgrad/testing/kernel_ops/judged_op.h>

#include <algorithm>
#include <stdexcept>

#include <halfgrad/testing/rounded_arithmetic.h>

namespace halfgrad::testing::detail {
namespace {

std::vector<double> values_of(const Elements& elements) {
  std::vector<double> values;
  values.reserve(elements.size());
  for (const Bounded& each : elements) values.push_back(each.value);
  return values;
}

BoundedReference reference_of(const std::string& name) {
  const auto& ops = all_ops();
  const auto entry =
      std::find_if(ops.begin(), ops.end(), [&](const OpEntry& op) { return op.name == name; });
  if (entry != ops.end() && entry->bounded_reference != nullptr) return entry->bounded_reference;
  throw std::logic_error("kernel_op: expected a reference on AnyArithmetic for " + name +
                         ", which rounds, got none; set bounded_reference in " + name + "_entry()");
}

}  // namespace

void judge_by_reference(KernelOp& op) {
  const BoundedReference reference = reference_of(op.name);
  op.bounded = [reference](const std::vector<Values>& in, DType accumulate, DType output,
                           const Leniency& leniency) {
    return reference(BoundedArithmetic(accumulate, output, leniency), in);
  };
  op.rounded = [reference](const std::vector<Values>& in, const NumberFormat& format) {
    return values_of(reference(RoundedArithmetic(format), in));
  };
}

}  // namespace halfgrad::testing::detail
