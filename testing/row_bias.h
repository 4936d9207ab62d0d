#pragma once

#include <cstdint>

#include <halfgrad/core/dtype.h>

namespace halfgrad::testing {

/// The mean difference between the elements of an output's row and the nearest values to the exact
/// results. It is near 0 for a right kernel. If a factor or a term of the whole row is rounded, all
/// elements share its error, which each element's budget may allow. The errors of a right kernel
/// themselves need not average out: a row of few values repeats them.
struct RowBias {
  std::int64_t row = 0, elements = 0;  ///< place, and elements that count, as below
  double outward = 0, upward = 0;      ///< in ulps: away from zero, toward infinity

  /// The larger of both mean errors.
  double ulps() const;
};

/// Finds the row with the largest mean error. Counts finite elements that are not exact, and that
/// are known to 1.5 ulps before they are stored, in rows that have at least 256 of them.
class RowBiasSearch {
 public:
  void add(double got, double expected, double allowed, DType output);
  void end_row();
  const RowBias& worst() const { return worst_; }

 private:
  RowBias next_, worst_;
};

}  // namespace halfgrad::testing
