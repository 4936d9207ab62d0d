#include <algorithm>
#include <sstream>

#include <halfgrad/testing/kernel_case.h>
#include <halfgrad/testing/printed.h>

namespace halfgrad::testing {
namespace {

constexpr std::size_t kMostCompared = 20'000;  // elements, with the maths in low precision

std::string described(const WorstElement& worst, std::int64_t wrong, std::int64_t elements) {
  std::ostringstream message;
  message.precision(9);
  message << "element " << worst.index << (worst.output.empty() ? "" : " of ") << worst.output
          << " is " << printed(worst.got) << ", expected " << printed(worst.expected) << " within "
          << worst.allowed << " (" << worst.used << " of its budget); " << wrong << " of "
          << elements << " elements are wrong";
  return message.str();
}

/// Judges one output, whose elements begin at `first` in the budget.
void judge_one(const KernelOp& op, std::size_t number, const std::vector<double>& output,
               std::size_t first, const ErrorBudget& budget, const std::vector<double>& rounded,
               DType dtype, CaseResult& result) {
  for (std::size_t i = 0; i < output.size(); ++i) {
    const double expected = budget.expected[first + i], allowed = budget.allowed[first + i];
    const double used = budget_used(output[i], expected, allowed, dtype);
    result.use.add(output[i], expected, allowed, dtype);
    if (!rounded.empty()) result.use.compare(output[i], rounded[first + i], expected, dtype);
    if (!result.worst || used > result.worst->used) {
      result.worst = {static_cast<std::int64_t>(i),
                      output[i],
                      expected,
                      allowed,
                      used,
                      number < op.outputs.size() ? op.outputs[number].name : std::string()};
    }
  }
}

}  // namespace

CaseResult judge_outputs(const KernelOp& op, const std::vector<Values>& operands,
                         const std::vector<std::vector<double>>& outputs,
                         const KernelContract& contract, const std::vector<double>& last) {
  std::vector<std::size_t> counts;
  std::size_t elements = 0;
  for (const std::vector<double>& output : outputs) {
    counts.push_back(output.size());
    elements += output.size();
  }
  const ErrorBudget budget =
      error_budget(op, operands, contract.accumulate, contract.output, contract.leniency, counts);
  CaseResult result;
  if (budget.expected.size() != elements) {
    result.fault = Fault::wrong_value;
    result.message = "expected " + std::to_string(budget.expected.size()) + " elements, got " +
                     std::to_string(elements);
    return result;
  }
  const bool has_rounded = contract.output != kFloat64 && is_floating_point(contract.output) &&
                           elements <= kMostCompared;
  const auto rounded =
      has_rounded ? op.rounded(operands, number_format_of(contract.output)) : std::vector<double>{};
  std::size_t first = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    judge_one(op, i, outputs[i], first, budget, rounded, output_dtype(op, i, contract.output),
              result);
    first += counts[i];
  }
  result.impostors =
      judge_impostors(op, operands, budget, contract.accumulate, contract.output, rounded, last);
  result.expected = budget.expected;
  if (result.use.over == 0) return result;
  result.fault = Fault::wrong_value;
  result.message = described(*result.worst, result.use.over, result.use.elements);
  return result;
}

CaseResult judge_output(const KernelOp& op, const std::vector<Values>& operands,
                        const std::vector<double>& output, const KernelContract& contract) {
  return judge_outputs(op, operands, {output}, contract);
}

}  // namespace halfgrad::testing
