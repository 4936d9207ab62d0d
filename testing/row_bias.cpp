#include <halfgrad/testing/row_bias.h>

#include <cmath>

#include <halfgrad/testing/error_budget.h>
#include <halfgrad/testing/number_format_of.h>

namespace halfgrad::testing {

double RowBias::ulps() const { return std::fmax(std::fabs(outward), std::fabs(upward)); }

void RowBiasSearch::add(double got, double expected, double allowed, DType output) {
  if (!std::isfinite(got) || !std::isfinite(expected) || got == expected) return;
  const double ulp = ulp_at(expected, output);
  const double before_storing = error_before_storing(expected, allowed, output);
  if (!(before_storing < BudgetUse::kClose * ulp)) return;
  double nearest = rounded_to(output, expected);
  if (!std::isfinite(nearest)) return;
  // Near a tie either neighbour is right; a row of few values may have many such elements.
  const bool is_exact = before_storing < ulp / 16;
  if (is_exact && std::fabs(got - expected) <= ulp / 2 + before_storing) nearest = got;
  ++next_.elements;
  next_.outward += (std::fabs(got) - std::fabs(nearest)) / ulp;
  next_.upward += (got - nearest) / ulp;
}

void RowBiasSearch::end_row() {
  constexpr std::int64_t kFewest = 256;
  RowBias row = next_;
  next_ = {.row = row.row + 1};
  if (row.elements < kFewest) return;
  row.outward /= static_cast<double>(row.elements);
  row.upward /= static_cast<double>(row.elements);
  if (row.ulps() > worst_.ulps()) worst_ = row;
}

}  // namespace halfgrad::testing
