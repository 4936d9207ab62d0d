#include <halfgrad/testing/kernel_ops/judged_op.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <halfgrad/testing/rounded_arithmetic.h>

namespace halfgrad::testing::detail {

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

double scale_from(double x, int lowest, int exponents) {
  if (!std::isfinite(x) || x == 0) return std::ldexp(1, lowest);
  int exponent = 0;
  const double fraction = 2 * std::frexp(std::fabs(x), &exponent);
  const bool is_power_of_two = std::fmod(std::floor(fraction * 0x1p20), 2) == 0;
  const int wrapped = (exponent % exponents + exponents) % exponents;
  return std::ldexp(is_power_of_two ? 1 : fraction, lowest + wrapped);
}

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
