#include <array>
#include <cmath>

#include <halfgrad/testing/formulas/losses.h>
#include <halfgrad/testing/kernel_ops/judged_op.h>

namespace halfgrad::testing::detail {
namespace {

template <class F>
KernelOp mean_of(const char* name, F) {
  return judged<formulas::MeanOf<F>>(name, "[m, k], [m, k] -> []", two_alike, scalar);
}

template <class Formula>
KernelOp of_classes(const char* name) {
  return needs_rows(judged<Formula>(
      name, "[m, k], classes [m] -> []",
      [](const Dims& d) {
        return Specs{{.sizes = {d.m, d.k}}, indices_below(d.k, {d.m})};
      },
      scalar));
}

/// Draws operand i from [low[i], high[i]], and replaces a hostile input x by f(i, x).
KernelOp within(KernelOp op, std::array<double, 2> low, std::array<double, 2> high,
                double (*f)(std::size_t, double)) {
  op.operands = [=](const Dims& d) {
    return Specs{{.sizes = {d.m, d.k}, .low = low[0], .high = high[0]},
                 {.sizes = {d.m, d.k}, .low = low[1], .high = high[1]}};
  };
  op.admitted = f;
  return op;
}

/// Maps any x to a probability; NaN stays.
double probability(double x) { return std::fabs(x) > 1 ? 1 / std::fabs(x) : std::fabs(x); }

}  // namespace

std::vector<KernelOp> loss_ops() {
  namespace f = formulas;
  return {
      of_classes<f::CrossEntropy>("cross_entropy"),
      of_classes<f::NllLoss>("nll_loss"),
      mean_of("mse_loss", f::kSquaredDifference),
      mean_of("l1_loss", f::kAbsoluteDifference),
      mean_of("smooth_l1_loss", f::kSmoothDifference),
      mean_of("huber_loss", f::kSmoothDifference),
      within(mean_of("binary_cross_entropy", f::kBinaryCrossEntropy), {0.01, 0}, {0.99, 1},
             [](std::size_t, double x) { return probability(x); }),
      within(mean_of("binary_cross_entropy_with_logits", f::kLogitsCrossEntropy), {-8, 0}, {8, 1},
             [](std::size_t operand, double x) { return operand == 1 ? probability(x) : x; }),
      within(mean_of("kl_div", f::kKullbackLeibler), {-4, 0.1}, {0, 2},
             [](std::size_t operand, double x) { return operand == 1 ? std::fabs(x) : x; }),
  };
}

}  // namespace halfgrad::testing::detail
