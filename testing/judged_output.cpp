#include <algorithm>
#include <cmath>
#include <sstream>

#include <halfgrad/testing/kernel_case.h>
#include <halfgrad/testing/printed.h>

namespace halfgrad::testing {
namespace {

constexpr std::size_t kMostCompared = 20'000;  // elements, with the maths in low precision

std::string described(const WorstElement& worst, const BadElements& bad, const BudgetUse& use) {
  std::ostringstream message;
  message.precision(9);
  message << "element " << index_tuple(worst.index, bad.shape)
          << (worst.output.empty() ? "" : " of ") << worst.output << " is " << printed(worst.got)
          << ", expected " << printed(worst.expected) << " within " << worst.allowed << " ("
          << worst.used << " of its budget); " << use.over << " of " << use.elements
          << " elements are wrong";
  if (const std::string pattern = pattern_of(bad); !pattern.empty()) {
    message << ": " << (worst.output.empty() ? "" : "in " + worst.output + ' ') << pattern;
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

/// Judges one output, whose elements begin at `first` in the budget.
void judge_one(const KernelOp& op, std::size_t number, const Values& output, std::size_t first,
               const ErrorBudget& budget, const std::vector<double>& rounded, DType dtype,
               CaseResult& result) {
  BadElements bad;
  bad.shape = output.sizes;
  if (number < op.outputs.size()) bad.output = op.outputs[number].name;
  bool has_worst = false;
  constexpr std::size_t kVectors[] = {8, 4};
  const std::size_t count = output.data.size();
  const auto row = output.sizes.empty()
                       ? 1
                       : static_cast<std::size_t>(std::max<std::int64_t>(output.sizes.back(), 1));
  RowBiasSearch rows;
  const bool is_narrow = is_reduced(dtype);
  for (std::size_t i = 0; i < output.data.size(); ++i) {
    const double got = output.data[i];
    const double expected = budget.expected[first + i], allowed = budget.allowed[first + i];
    if (is_narrow) rows.add(got, expected, allowed, dtype);
    if (is_narrow && (i + 1) % row == 0) rows.end_row();
    const double used = budget_used(got, expected, allowed, dtype);
    result.use.add(got, expected, allowed, dtype);
    for (std::size_t tail = 0; tail < result.tails.size(); tail += 2) {
      const std::size_t width = kVectors[tail / 2];
      if (i >= count / width * width) result.tails[tail].add(got, expected, allowed, dtype);
      if (i % row >= row / width * width) {
        result.tails[tail + 1].add(got, expected, allowed, dtype);
      }
    }
    if (!rounded.empty()) result.use.compare(got, rounded[first + i], expected, dtype);
    const WorstElement element{
        static_cast<std::int64_t>(i), got, expected, allowed, used, bad.output};
    if (!result.worst || used > result.worst->used) {
      result.worst = element;
      has_worst = true;
    }
    if (used > 1) add_wrong(bad, element);
  }
  if (has_worst) result.bad = std::move(bad);
  if (rows.worst().ulps() > result.row_bias.ulps()) result.row_bias = rows.worst();
}

/// Adds a fault if zeros of an output, the first, have the wrong sign.
void judge_signs_of_zeros(const Values& output, const ErrorBudget& budget, CaseResult& result) {
  BadElements bad;
  bad.shape = output.sizes;
  for (std::size_t i = 0; i < output.data.size(); ++i) {
    const double got = output.data[i], expected = budget.expected[i];
    if (got != 0 || expected != 0 || std::signbit(got) == std::signbit(expected)) continue;
    bad.wrong.push_back(static_cast<std::int64_t>(i));
  }
  if (bad.wrong.empty()) return;
  const bool negative = std::signbit(output.data[static_cast<std::size_t>(bad.wrong.front())]);
  result.fault = Fault::wrong_value;
  result.message = "element " + index_tuple(bad.wrong.front(), bad.shape) + " is " +
                   (negative ? "-0, expected 0" : "0, expected -0") + "; " +
                   std::to_string(bad.wrong.size()) + " of " + std::to_string(output.data.size()) +
                   " elements have the wrong sign of zero";
  result.bad = std::move(bad);
}

}  // namespace

CaseResult judge_outputs(const KernelOp& op, const std::vector<Values>& operands,
                         const std::vector<Values>& given, const KernelContract& contract,
                         const std::vector<double>& last) {
  std::vector<Values> values;
  if (op.decoded) values = given;
  for (Values& output : values) {
    for (double& x : output.data) x = op.decoded(x);
  }
  const std::vector<Values>& outputs = op.decoded ? values : given;
  std::vector<std::size_t> counts;
  std::size_t elements = 0;
  for (const Values& output : outputs) {
    counts.push_back(output.data.size());
    elements += output.data.size();
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
  result.first_use = result.use;
  result.impostors =
      judge_impostors(op, operands, budget, contract.accumulate, contract.output, rounded, last);
  result.expected = budget.expected;
  if (result.use.over == 0) {
    if (op.signs_zeros) judge_signs_of_zeros(outputs.front(), budget, result);
    return result;
  }
  result.fault = Fault::wrong_value;
  result.message = described(*result.worst, result.bad, result.use);
  return result;
}

CaseResult judge_output(const KernelOp& op, const std::vector<Values>& operands,
                        const Values& output, const KernelContract& contract) {
  return judge_outputs(op, operands, {output}, contract);
}

}  // namespace halfgrad::testing
