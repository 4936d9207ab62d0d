#include <array>
#include <cmath>

#include <halfgrad/testing/kernel_ops/judged_op.h>
#include <halfgrad/testing/rounded_arithmetic.h>

namespace halfgrad::testing::detail {
namespace {

/// Each loss by itself: the mean of one. A row of the first operand is for an element of the
/// second.
Elements losses_of(const BoundedReference& mean, const AnyArithmetic& a,
                   const std::vector<Values>& in) {
  const auto count = static_cast<std::ptrdiff_t>(in[1].data.size());
  const bool of_classes = in[1].sizes.size() == 1;
  const std::int64_t columns = of_classes ? in[0].sizes[1] : 1;
  Elements losses;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const auto row = in[0].data.begin() + i * columns;
    const Values x{{1, columns}, {row, row + columns}};
    const double target = in[1].data[static_cast<std::size_t>(i)];
    losses.push_back(mean(a, {x, {of_classes ? Shape{1} : Shape{1, 1}, {target}}}).front());
  }
  return losses;
}

Elements reduced(const BoundedReference& mean, Reduction reduction, const AnyArithmetic& a,
                 const std::vector<Values>& in) {
  const Elements losses = losses_of(mean, a, in);
  return reduction == Reduction::sum ? Elements{a.sum(losses)} : losses;
}

/// Lets a loss, which is a mean, have another reduction. The losses themselves have the shape of
/// the targets.
KernelOp takes_reduction(KernelOp op) {
  op.with_reduction = [op](Reduction reduction) {
    if (reduction == Reduction::mean) return op;
    KernelOp own = op;
    const BoundedReference mean = reference_of(op.name);
    const bool each = reduction == Reduction::none;
    if (each) {
      own.output = [operands = op.operands](const Dims& d) { return operands(d)[1].sizes; };
      const std::string sizes = op.operands({})[1].sizes.size() == 1 ? "[m]" : "[m, k]";
      own.signature.replace(own.signature.size() - 2, 2, sizes);
    }
    own.bounded = [=](const std::vector<Values>& in, DType accumulate, DType output,
                      const Leniency& leniency) {
      // A loss that is a result is not stored before.
      return reduced(mean, reduction,
                     BoundedArithmetic(accumulate, each ? accumulate : output, leniency), in);
    };
    own.rounded = [=](const std::vector<Values>& in, const NumberFormat& format) {
      return values_of(reduced(mean, reduction, RoundedArithmetic(format), in));
    };
    return own;
  };
  return op;
}

KernelOp mean_loss(const char* name) {
  return judged(name, "[m, k], [m, k] -> []", two_alike, scalar);
}

KernelOp loss_of_classes(const char* name) {
  return takes_reduction(needs_rows(judged(
      name, "[m, k], classes [m] -> []",
      [](const Dims& d) {
        return Specs{{.sizes = {d.m, d.k}}, indices_below(d.k, {d.m})};
      },
      scalar)));
}

KernelOp loss_of_mlp() {
  KernelOp op = needs_rows(judged(
      "mlp_cross_entropy", "[m, k], [16, k], [16, 16], [n, 16], [16], [16], [n], classes [m] -> []",
      [](const Dims& d) {
        constexpr std::int64_t kHidden = 16;
        return Specs{
            {.sizes = {d.m, d.k}},     {.sizes = {kHidden, d.k}}, {.sizes = {kHidden, kHidden}},
            {.sizes = {d.n, kHidden}}, {.sizes = {kHidden}},      {.sizes = {kHidden}},
            {.sizes = {d.n}},          indices_below(d.n, {d.m})};
      },
      scalar));
  op.least.n = 1;
  return op;
}

KernelOp loss_of_elements(const char* name) { return takes_reduction(mean_loss(name)); }

/// Draws operand i from [low[i], high[i]], and replaces a hostile input x by f(i, x).
KernelOp within(KernelOp op, std::array<double, 2> low, std::array<double, 2> high,
                double (*f)(std::size_t, double)) {
  op.operands = [=](const Dims& d) {
    return Specs{{.sizes = {d.m, d.k}, .low = low[0], .high = high[0]},
                 {.sizes = {d.m, d.k}, .low = low[1], .high = high[1]}};
  };
  op.admitted = f;
  return takes_reduction(op);
}

/// Maps any x to a probability; NaN stays.
double probability(double x) { return std::fabs(x) > 1 ? 1 / std::fabs(x) : std::fabs(x); }

}  // namespace

std::vector<KernelOp> loss_ops() {
  return {
      loss_of_classes("cross_entropy"),
      loss_of_classes("nll_loss"),
      loss_of_mlp(),
      loss_of_elements("mse_loss"),
      loss_of_elements("l1_loss"),
      loss_of_elements("smooth_l1_loss"),
      loss_of_elements("huber_loss"),
      within(mean_loss("binary_cross_entropy"), {0.01, 0}, {0.99, 1},
             [](std::size_t, double x) { return probability(x); }),
      within(mean_loss("binary_cross_entropy_with_logits"), {-8, 0}, {8, 1},
             [](std::size_t operand, double x) { return operand == 1 ? probability(x) : x; }),
      within(mean_loss("kl_div"), {-4, 0.1}, {0, 2},
             [](std::size_t operand, double x) { return operand == 1 ? std::fabs(x) : x; }),
  };
}

}  // namespace halfgrad::testing::detail
