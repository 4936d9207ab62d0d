#include <algorithm>
#include <sstream>

#include <halfgrad/testing/kernel_case.h>
#include <halfgrad/testing/printed.h>

namespace halfgrad::testing {
namespace {

std::string described(const WorstElement& worst, const BadElements& bad, std::int64_t elements) {
  std::ostringstream message;
  message.precision(9);
  message << "element " << index_tuple(worst.index, bad.shape) << " is " << printed(worst.got)
          << ", expected " << printed(worst.expected) << " within " << worst.allowed << " ("
          << worst.used << " of its budget); " << bad.wrong.size() << " of " << elements
          << " elements are wrong";
  if (const std::string pattern = pattern_of(bad); !pattern.empty()) {
    message << ": " << pattern;
  }
  return message.str();
}

/// Adds a wrong element, and keeps the worst ones sorted.
void add_wrong(BadElements& bad, const WorstElement& element) {
  constexpr std::size_t kMostKept = 8;
  bad.wrong.push_back(element.index);
  const auto place = std::upper_bound(
      bad.worst.begin(), bad.worst.end(), element,
      [](const WorstElement& a, const WorstElement& b) { return a.used > b.used; });
  bad.worst.insert(place, element);
  if (bad.worst.size() > kMostKept) bad.worst.pop_back();
}

}  // namespace

CaseResult judge_output(const KernelOp& op, const std::vector<Values>& operands,
                        const Values& output, const KernelContract& contract) {
  const ErrorBudget budget =
      error_budget(op, operands, contract.accumulate, contract.output, contract.leniency);
  CaseResult result;
  const std::vector<double>& got = output.data;
  if (budget.expected.size() != got.size()) {
    result.fault = Fault::wrong_value;
    result.message = "expected " + std::to_string(budget.expected.size()) + " elements, got " +
                     std::to_string(got.size());
    return result;
  }
  constexpr std::size_t kMostCompared = 20'000;  // with the maths in low precision
  const bool has_rounded = contract.output != kFloat64 && is_floating_point(contract.output) &&
                           got.size() <= kMostCompared;
  const auto rounded =
      has_rounded ? op.rounded(operands, number_format_of(contract.output)) : std::vector<double>{};
  result.bad.shape = output.sizes;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double expected = budget.expected[i], allowed = budget.allowed[i];
    const double used = budget_used(got[i], expected, allowed, contract.output);
    result.use.add(got[i], expected, allowed, contract.output);
    if (has_rounded) result.use.compare(got[i], rounded[i], expected, contract.output);
    const WorstElement element{static_cast<std::int64_t>(i), got[i], expected, allowed, used};
    if (!result.worst || used > result.worst->used) result.worst = element;
    if (used > 1) add_wrong(result.bad, element);
  }
  if (result.use.over == 0) return result;
  result.fault = Fault::wrong_value;
  result.message = described(*result.worst, result.bad, result.use.elements);
  return result;
}

}  // namespace halfgrad::testing
