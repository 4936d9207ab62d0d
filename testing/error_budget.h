#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <halfgrad/testing/kernel_op.h>

/// How far off each element of a result may be, and how much of that a kernel has used.
///
/// An element's budget is what the op's error analysis gives for these very operands
/// (error_bound.h), plus u |y| for rounding the result to its dtype, plus one ulp of that dtype.
/// For a product of matrices this is
///
///   |error| <= u_out |y| + gamma_K(u_acc) sum_k |a_ik| |b_kj| + ulp_out(y),
///
/// gamma_K(u) = K u / (1 - K u); Higham, Accuracy and Stability of Numerical Algorithms, chapter 3.
/// Ops that do not round, such as relu, have a budget of 0: the result, rounded to nearest where
/// the output is narrower than the operands.
namespace halfgrad::testing {

struct ErrorBudget {
  std::vector<double> expected;  ///< in double or better; of exact ops, as the output stores it
  std::vector<double> allowed;   ///< infinity where a correct kernel may overflow on the way
};

/// Of the result of `op` on these operands, in a kernel that keeps intermediate results in
/// `accumulate` and stores `output`.
ErrorBudget error_budget(const KernelOp& op, const std::vector<Values>& operands, DType accumulate,
                         DType output);

/// The part of `allowed` that `got` uses up: wrong above 1. NaN must be NaN. Infinity stands for
/// what is expected to overflow, or may within its budget. Signs of zeros are not compared.
double budget_used(double got, double expected, double allowed, DType output);

/// What became of many elements' budgets.
struct BudgetUse {
  std::int64_t elements = 0;
  std::int64_t unjudged = 0;                 ///< of them: the budget is infinite
  std::array<std::int64_t, 10> histogram{};  ///< of those within budget, by tenths used
  std::int64_t over = 0;                     ///< beyond their budget
  double worst = 0;                          ///< the largest part used
  double max_ulps = 0, sum_ulps = 0;         ///< errors in ulps of the output, where finite
  double sum_outward_ulps = 0;               ///< the same, positive away from zero
  std::int64_t inexact = 0;                  ///< elements off by their last rounding alone
  double sum_squares = 0;                    ///< of errors in ulps that were compared
  double rounded_sum_squares = 0;            ///< of the errors they were compared with

  void add(double got, double expected, double allowed, DType output);
  /// The error beside that of `rounded`, the same maths with each operation rounded to the output.
  void compare(double got, double rounded, double expected, DType output);
  void add(const BudgetUse& other);

  double mean_ulps() const;
  /// Mean error in ulps, away from zero: 0 for rounding to nearest, -0.5 for cutting off. Only
  /// of elements whose error is that of the last rounding.
  double bias() const;
  /// The kernel's root mean square error over that of the same maths, each operation rounded to the
  /// output's format: below 1, widening has paid. NaN where nothing was compared.
  double relative_to_low_precision() const;
};

}  // namespace halfgrad::testing
