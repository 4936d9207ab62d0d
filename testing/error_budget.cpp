#include <halfgrad/testing/error_budget.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <halfgrad/testing/number_format_of.h>

namespace halfgrad::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Adds the error of storing a result in the dtype of an output.
class Storage {
 public:
  Storage(bool exact, DType accumulate, DType output, const Leniency& leniency)
      : exact_(exact), output_(output), limits_(limits_of(output)), leniency_(leniency) {
    same_range_ = limits_.largest <= limits_of(accumulate).largest;
    normal_ = limits_.smallest / (2 * limits_.roundoff);
  }

  void add(const Bounded& y, ErrorBudget& budget) const {
    const bool infinite = y.overflows && same_range_;
    const double magnitude = std::fabs(y.value) + y.error;
    const bool exact = exact_ || infinite || !std::isfinite(y.value);
    budget.expected.push_back(infinite ? std::copysign(kInfinity, y.value)
                              : exact_ ? rounded_to(output_, y.value)
                                       : y.value);
    budget.allowed.push_back(y.error == kInfinity && !infinite ? kInfinity
                             : exact                           ? 0
                                     : y.error + limits_.roundoff * magnitude +
                                           ulp_at(magnitude, output_));
    double& allowed = budget.allowed.back();
    if (leniency_.flushes() && magnitude < normal_) allowed = std::max(allowed, magnitude);
    if (leniency_.any_nan && std::isnan(y.value)) allowed = kInfinity;
  }

 private:
  bool exact_;
  DType output_;
  FormatLimits limits_;
  const Leniency& leniency_;
  bool same_range_;
  double normal_;
};

}  // namespace

ErrorBudget error_budget(const KernelOp& op, const std::vector<Values>& operands, DType accumulate,
                         DType output, const Leniency& leniency,
                         const std::vector<std::size_t>& counts) {
  ErrorBudget budget;
  const bool exact = op.bitwise || (op.exact_for && op.exact_for(operands));
  const std::vector<Bounded> results = op.bounded(operands, accumulate, output, leniency);
  // TensorFloat-32 rounds the factors themselves.
  const std::vector<bool> exact_sums =
      op.exact_sums && !leniency.tf32 ? op.exact_sums(operands, accumulate) : std::vector<bool>{};
  std::size_t first = 0;
  for (std::size_t i = 0; i < std::max<std::size_t>(1, op.outputs.size()); ++i) {
    const std::size_t end =
        std::min(i < counts.size() ? first + counts[i] : results.size(), results.size());
    const Storage storage(exact, accumulate, output_dtype(op, i, output), leniency);
    const std::vector<bool> matters = elements_that_matter(op, i, operands, end - first);
    for (std::size_t at = first; at < end; ++at) {
      const bool exact_sum = i < exact_sums.size() && exact_sums[i];
      storage.add(exact_sum ? Bounded{results[at].value} : results[at], budget);
      if (!matters.empty() && !matters[at - first]) budget.allowed.back() = kInfinity;
    }
    first = end;
  }
  return budget;
}

double error_before_storing(double expected, double allowed, DType output) {
  return allowed - limits_of(output).roundoff * std::fabs(expected) - ulp_at(expected, output);
}

double budget_used(double got, double expected, double allowed, DType output) {
  if (allowed == kInfinity || got == expected) return 0;
  if (std::isnan(got) || std::isnan(expected)) {
    return std::isnan(got) && std::isnan(expected) ? 0 : kInfinity;
  }
  if (std::isinf(got)) {
    // Rounding to nearest gives infinity from half an ulp above the largest value on.
    const FormatLimits limits = limits_of(output);
    const double before_storing = std::fmax(0, error_before_storing(expected, allowed, output));
    const double beyond = std::fabs(expected) - limits.largest + before_storing;
    const bool may_overflow = beyond >= ulp_at(limits.largest, output) / 2;
    return may_overflow && std::signbit(got) == std::signbit(expected) ? 0 : kInfinity;
  }
  return allowed > 0 ? std::fabs(got - expected) / allowed : kInfinity;
}

void BudgetUse::add(double got, double expected, double allowed, DType output) {
  ++elements;
  if (allowed == kInfinity) {
    ++unjudged;
    return;
  }
  const double used = budget_used(got, expected, allowed, output);
  worst = std::max(worst, used);
  if (used > 1) {
    ++over;
  } else {
    ++histogram[std::min<std::size_t>(9, static_cast<std::size_t>(used * 10))];
  }
  if (!is_floating_point(output) || !std::isfinite(got) || !std::isfinite(expected)) return;
  const double ulp = ulp_at(expected, output);
  const double ulps = std::fabs(got - expected) / ulp;
  max_ulps = std::max(max_ulps, ulps);
  sum_ulps += ulps;
  const double before_storing = error_before_storing(expected, allowed, output);
  const double nearest = rounded_to(output, expected);
  if (ulps > 0 && before_storing < kClose * ulp && std::isfinite(nearest)) {
    ++close;
    sum_close_outward += (std::fabs(got) - std::fabs(nearest)) / ulp;
  }
  if (ulps > 0 && ulps <= 1 && before_storing < ulp / 16) {
    ++inexact;
    constexpr double kSlack = 0x1p-6;  // for the bounds' own rounding
    if (ulps > 0.5 + before_storing / ulp + kSlack) ++far;
    if (ulps == 0.5) {
      ++exact_ties;
      if (std::fmod(got, 2 * ulp) != 0) ++odd_ties;
    }
    sum_outward_ulps += (std::fabs(got) - std::fabs(expected)) / ulp;
    sum_upward_ulps += (got - expected) / ulp;
  }
}

void BudgetUse::compare(double got, double rounded, double expected, DType output) {
  if (!std::isfinite(got) || !std::isfinite(rounded) || !std::isfinite(expected)) return;
  const double ulp = ulp_at(expected, output);
  sum_squares += (got - expected) / ulp * ((got - expected) / ulp);
  rounded_sum_squares += (rounded - expected) / ulp * ((rounded - expected) / ulp);
}

void BudgetUse::add(const BudgetUse& other) {
  elements += other.elements;
  unjudged += other.unjudged;
  for (std::size_t i = 0; i < histogram.size(); ++i) histogram[i] += other.histogram[i];
  over += other.over;
  worst = std::max(worst, other.worst);
  max_ulps = std::max(max_ulps, other.max_ulps);
  sum_ulps += other.sum_ulps;
  sum_outward_ulps += other.sum_outward_ulps;
  sum_upward_ulps += other.sum_upward_ulps;
  inexact += other.inexact;
  far += other.far;
  close += other.close;
  sum_close_outward += other.sum_close_outward;
  exact_ties += other.exact_ties;
  odd_ties += other.odd_ties;
  sum_squares += other.sum_squares;
  rounded_sum_squares += other.rounded_sum_squares;
}

double BudgetUse::mean_ulps() const {
  const std::int64_t judged = elements - unjudged;
  return judged > 0 ? sum_ulps / static_cast<double>(judged) : 0;
}

double BudgetUse::bias() const {
  return inexact > 0 ? sum_outward_ulps / static_cast<double>(inexact) : 0;
}

double BudgetUse::upward_bias() const {
  return inexact > 0 ? sum_upward_ulps / static_cast<double>(inexact) : 0;
}

double BudgetUse::close_bias() const {
  return close > 0 ? sum_close_outward / static_cast<double>(close) : 0;
}

double BudgetUse::far_share() const {
  return inexact > 0 ? static_cast<double>(far) / static_cast<double>(inexact) : 0;
}

double BudgetUse::relative_to_low_precision() const {
  return std::sqrt(sum_squares / rounded_sum_squares);
}

}  // namespace halfgrad::testing
