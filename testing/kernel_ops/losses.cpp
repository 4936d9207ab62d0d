#include <array>
#include <cmath>

#include <halfgrad/testing/kernel_ops/judged_op.h>

namespace halfgrad::testing::detail {
namespace {

KernelOp mean_loss(const char* name) {
  return judged(name, "[m, k], [m, k] -> []", two_alike, scalar);
}

KernelOp loss_of_classes(const char* name) {
  return needs_rows(judged(
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
  return {
      loss_of_classes("cross_entropy"),
      loss_of_classes("nll_loss"),
      mean_loss("mse_loss"),
      mean_loss("l1_loss"),
      mean_loss("smooth_l1_loss"),
      mean_loss("huber_loss"),
      within(mean_loss("binary_cross_entropy"), {0.01, 0}, {0.99, 1},
             [](std::size_t, double x) { return probability(x); }),
      within(mean_loss("binary_cross_entropy_with_logits"), {-8, 0}, {8, 1},
             [](std::size_t operand, double x) { return operand == 1 ? probability(x) : x; }),
      within(mean_loss("kl_div"), {-4, 0.1}, {0, 2},
             [](std::size_t operand, double x) { return operand == 1 ? std::fabs(x) : x; }),
  };
}

}  // namespace halfgrad::testing::detail
