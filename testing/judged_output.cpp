#include <sstream>

#include <halfgrad/testing/kernel_case.h>
#include <halfgrad/testing/printed.h>

namespace halfgrad::testing {
namespace {

std::string described(const WorstElement& worst, std::int64_t wrong, std::int64_t elements) {
  std::ostringstream message;
  message.precision(9);
  message << "element " << worst.index << " is " << printed(worst.got) << ", expected "
          << printed(worst.expected) << " within " << worst.allowed << " (" << worst.used
          << " of its budget); " << wrong << " of " << elements << " elements are wrong";
  return message.str();
}

}  // namespace

CaseResult judge_output(const KernelOp& op, const std::vector<Values>& operands,
                        const std::vector<double>& output, const KernelContract& contract,
                        const std::vector<double>& last) {
  const ErrorBudget budget =
      error_budget(op, operands, contract.accumulate, contract.output, contract.leniency);
  CaseResult result;
  if (budget.expected.size() != output.size()) {
    result.fault = Fault::wrong_value;
    result.message = "expected " + std::to_string(budget.expected.size()) + " elements, got " +
                     std::to_string(output.size());
    return result;
  }
  constexpr std::size_t kMostCompared = 20'000;  // with the maths in low precision
  const bool has_rounded = contract.output != kFloat64 && is_floating_point(contract.output) &&
                           output.size() <= kMostCompared;
  const auto rounded =
      has_rounded ? op.rounded(operands, number_format_of(contract.output)) : std::vector<double>{};
  for (std::size_t i = 0; i < output.size(); ++i) {
    const double expected = budget.expected[i], allowed = budget.allowed[i];
    const double used = budget_used(output[i], expected, allowed, contract.output);
    result.use.add(output[i], expected, allowed, contract.output);
    if (has_rounded) result.use.compare(output[i], rounded[i], expected, contract.output);
    if (!result.worst || used > result.worst->used) {
      result.worst = {static_cast<std::int64_t>(i), output[i], expected, allowed, used};
    }
  }
  result.impostors =
      judge_impostors(op, operands, budget, contract.accumulate, contract.output, rounded, last);
  result.expected = budget.expected;
  if (result.use.over == 0) return result;
  result.fault = Fault::wrong_value;
  result.message = described(*result.worst, result.use.over, result.use.elements);
  return result;
}

}  // namespace halfgrad::testing
