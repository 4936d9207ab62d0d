#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <halfgrad/testing/kernel_op.h>

/// The error that each element of a result may have, its budget, and the part that a kernel used.
///
/// An element's budget is the bound of the op's error analysis for these operands (error_bound.h),
/// plus u |y| for rounding the result to its dtype, plus one ulp of that dtype. For a matrix
/// product:
///
///     |error| <= u_out |y| + gamma_K(u_acc) sum_k |a_ik| |b_kj| + ulp_out(y)
///     gamma_K(u) = K u / (1 - K u)
///
/// (Higham, Accuracy and Stability of Numerical Algorithms, chapter 3). Ops that do not round, such
/// as relu, have a budget of 0; a narrower output must be rounded to nearest.
namespace halfgrad::testing {

/// The exact value of each element, and the largest error that a correct kernel may have there.
struct ErrorBudget {
  std::vector<double> expected;  ///< in double or better; for exact ops rounded to the output
  std::vector<double> allowed;   ///< infinity where a correct kernel may overflow on the way
};

/// The budget of op(operands) for a kernel that keeps intermediate results in dtype `accumulate`
/// and stores dtype `output`. Several outputs follow each other; `counts` are then their elements,
/// and those that do not matter have an infinite budget.
ErrorBudget error_budget(const KernelOp& op, const std::vector<Values>& operands, DType accumulate,
                         DType output, const Leniency& leniency = {},
                         const std::vector<std::size_t>& counts = {});

/// The part of `allowed` that `got` uses; above 1 it is wrong. NaN must be NaN. Infinity is right
/// if the value overflows, or may overflow before it is stored. Signs of zeros are not compared.
double budget_used(double got, double expected, double allowed, DType output);

/// The part of an element's budget that is not for storing it.
double error_before_storing(double expected, double allowed, DType output);

/// Statistics of the budgets that many elements used.
struct BudgetUse {
  static constexpr double kClose = 1.5;  ///< ulps
  std::int64_t elements = 0;
  std::int64_t unjudged = 0;                 ///< elements whose budget is infinite
  std::array<std::int64_t, 10> histogram{};  ///< elements within budget, by tenths used
  std::int64_t over = 0;                     ///< elements over budget
  double worst = 0;                          ///< the largest part used
  double max_ulps = 0, sum_ulps = 0;         ///< errors in ulps of the output, where finite
  double sum_outward_ulps = 0;               ///< signed errors in ulps, positive away from zero
  double sum_upward_ulps = 0;                ///< signed errors in ulps
  std::int64_t inexact = 0;                  ///< elements whose only error is the last rounding
  std::int64_t far = 0;            ///< elements among them that are farther from the exact
                                   ///< value than rounding once to nearest can take them
  std::int64_t exact_ties = 0;     ///< elements among them halfway between two values
  std::int64_t odd_ties = 0;       ///< exact ties that became the odd one of the two
  std::int64_t close = 0;          ///< elements known to kClose ulps before storing
  double sum_close_outward = 0;    ///< in ulps, their sum of |got| - |nearest to the exact value|
  double sum_squares = 0;          ///< sum of squared errors passed to compare()
  double rounded_sum_squares = 0;  ///< the same sum for compare()'s `rounded`

  void add(double got, double expected, double allowed, DType output);
  /// Adds the error of `got`, and that of `rounded`: the formula with each operation rounded to the
  /// output's format.
  void compare(double got, double rounded, double expected, DType output);
  void add(const BudgetUse& other);

  double mean_ulps() const;
  /// Mean error in ulps, positive away from zero: 0 for rounding to nearest, -0.5 for truncation.
  /// Counts only elements whose only error is the last rounding.
  double bias() const;
  /// Mean error in ulps, positive toward infinity, of the same elements.
  double upward_bias() const;
  /// Mean of |got| - |nearest to the exact value| in ulps, for elements to which a wide accumulator
  /// and a few values stored in the output's dtype add errors without a direction.
  double close_bias() const;
  /// The part of these elements that are not the nearest value of the output's dtype.
  double far_share() const;
  /// The kernel's root mean square error divided by that of compare()'s `rounded`: below 1,
  /// widening has paid. NaN if nothing was compared.
  double relative_to_low_precision() const;
};

}  // namespace halfgrad::testing
