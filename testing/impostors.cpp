#include <halfgrad/testing/impostors.h>

#include <algorithm>
#include <cmath>

namespace halfgrad::testing {
namespace {

constexpr std::size_t kMostInLowPrecision = 2'000;  // elements: emulated arithmetic is slow

/// Rounds the impostor to the output's dtype, as a kernel would have to, and judges it.
ImpostorResult judged(const std::vector<double>& impostor, const ErrorBudget& budget,
                      DType output) {
  if (budget.expected.empty()) return ImpostorResult::not_tried;
  if (impostor.size() != budget.expected.size()) return ImpostorResult::refused;
  for (std::size_t i = 0; i < impostor.size(); ++i) {
    const double got = rounded_to(output, impostor[i]);
    if (budget_used(got, budget.expected[i], budget.allowed[i], output) > 1) {
      return ImpostorResult::refused;
    }
  }
  return ImpostorResult::accepted;
}

/// True if these are the right values, rounded once.
bool exact(const std::vector<double>& values, const ErrorBudget& budget, DType output) {
  return std::equal(values.begin(), values.end(), budget.expected.begin(), budget.expected.end(),
                    [&](double value, double expected) {
                      return rounded_to(output, value) == rounded_to(output, expected) ||
                             (std::isnan(value) && std::isnan(expected));
                    });
}

/// The first elements of the first operand that has enough of them.
std::vector<double> copied(const std::vector<Values>& operands, std::size_t elements) {
  for (const Values& operand : operands) {
    if (operand.data.size() < elements) continue;
    return {operand.data.begin(), operand.data.begin() + static_cast<std::ptrdiff_t>(elements)};
  }
  return {};
}

/// Counts finite elements only: an infinity would hide what the others tell.
double finite_mean(const std::vector<double>& values) {
  double sum = 0, count = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += value;
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

ImpostorResult judged_in_low_precision(const KernelOp& op, const std::vector<Values>& operands,
                                       const ErrorBudget& budget, DType accumulate, DType output,
                                       std::vector<double> low) {
  if (op.bitwise || !is_floating_point(output) || is_reduced(accumulate))
    return ImpostorResult::not_tried;
  if (!is_reduced(output)) low.clear();
  if (low.empty() && budget.expected.size() <= kMostInLowPrecision) {
    const DType dtype = output == kFloat64 ? kFloat32 : is_reduced(output) ? output : kFloat16;
    low = op.rounded(operands, number_format_of(dtype));
  }
  if (low.empty() || exact(low, budget, output)) return ImpostorResult::not_tried;
  return judged(low, budget, output);
}

}  // namespace

std::string_view name(Impostor impostor) {
  constexpr std::string_view names[] = {"zeros", "a copied input", "the mean", "the last output",
                                        "low precision"};
  return names[static_cast<std::size_t>(impostor)];
}

ImpostorResults judge_impostors(const KernelOp& op, const std::vector<Values>& operands,
                                const ErrorBudget& budget, DType accumulate, DType output,
                                const std::vector<double>& rounded,
                                const std::vector<double>& last) {
  const std::size_t elements = budget.expected.size();
  const auto filled = [&](double value) { return std::vector<double>(elements, value); };
  const std::vector<double> copy = copied(operands, elements);
  return {
      judged(filled(0), budget, output),
      op.moves && exact(copy, budget, output) ? ImpostorResult::not_tried
                                              : judged(copy, budget, output),
      judged(filled(finite_mean(budget.expected)), budget, output),
      last.empty() ? ImpostorResult::not_tried : judged(last, budget, output),
      judged_in_low_precision(op, operands, budget, accumulate, output, rounded),
  };
}

ImpostorResults both(const ImpostorResults& first, const ImpostorResults& second) {
  ImpostorResults result{};
  for (std::size_t i = 0; i < kImpostors; ++i) {
    const bool refused =
        first[i] == ImpostorResult::refused || second[i] == ImpostorResult::refused;
    result[i] = refused ? ImpostorResult::refused : std::max(first[i], second[i]);
  }
  return result;
}

}  // namespace halfgrad::testing
