#include <cmath>

#include <halfgrad/testing/kernel_formula.h>
#include <halfgrad/testing/kernel_ops/judged_op.h>

/// Steps of optimizers with PyTorch's default parameters, whose gradients are scaled.
namespace halfgrad::testing::detail {
namespace {

using In = std::vector<BoundedArray>;

constexpr double kMomentum = 0.9, kSgdRate = 0.01;
constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kAdamRate = 1e-3, kEps = 1e-8;
constexpr int kStep = 10;

/// 1 - beta^n; a kernel may compute it in its own precision, where it cancels.
BoundedArray one_minus(const BoundedArray& like, double beta, int n = 1) {
  return either(constant(like, 1 - std::pow(beta, n)), 1 - pow(constant(like, beta), n));
}

/// beta a + (1 - beta) b, or PyTorch's a + (1 - beta) (b - a)
BoundedArray mixed(double beta, const BoundedArray& a, const BoundedArray& b) {
  const BoundedArray rest = one_minus(a, beta);
  return either(beta * a + rest * b, a + rest * (b - a));
}

// g = grad inv_scale,  buffer' = 0.9 buffer + g,  param' = param - 0.01 buffer'
BoundedArrays sgd_step(const In& in) {
  const BoundedArray buffer = kMomentum * in[2] + in[1] * in[3];
  return {in[0] - kSgdRate * stored(buffer), buffer};
}

// With g = grad inv_scale, for step t = 10:
//     m' = 0.9 m + 0.1 g,  v' = 0.999 v + 0.001 g^2
//     param' = param - 0.001 / (1 - 0.9^t) m' / (sqrt(v' / (1 - 0.999^t)) + 1e-8)
// after param (1 - 0.001 weight_decay) if the decay is decoupled
BoundedArrays adam_step(const In& in, double weight_decay) {
  BoundedArray param = in[0];
  const BoundedArray g = in[1] * in[4];
  const BoundedArray m = mixed(kBeta1, in[2], g);
  const BoundedArray v = either(kBeta2 * in[3] + one_minus(g, kBeta2) * g * g,
                                in[3] + one_minus(g, kBeta2) * (g * g - in[3]));
  const BoundedArray correction = sqrt(one_minus(g, kBeta2, kStep));
  const BoundedArray divisor = sqrt(stored(v)) / correction + kEps;
  if (weight_decay > 0) {
    param =
        either(param * (1 - kAdamRate * weight_decay), param - kAdamRate * weight_decay * param);
  }
  const BoundedArray rate = kAdamRate / one_minus(g, kBeta1, kStep);
  // PyTorch's addcdiv multiplies first, which may underflow.
  const BoundedArray step = either(rate * (stored(m) / divisor), rate * stored(m) / divisor);
  return {param - step, m, v};
}

KernelOp adam(const char* name, double weight_decay) {
  return kernel_op(
      {.name = name,
       .inputs = {{"m"}, {"m"}, {"m"}, FormulaInput{"m"}.between(0.01, 2), FormulaInput::scalar()},
       .reference = [weight_decay](const In& in) { return adam_step(in, weight_decay); },
       .admitted = [](std::size_t operand, double x) { return operand == 3 ? std::fabs(x) : x; },
       .outputs = {{.name = "param"}, {.name = "exp_avg"}, {.name = "exp_avg_sq"}},
       .signature = "[m], [m], [m], [m], [] -> [m], [m], [m]"});
}

}  // namespace

std::vector<KernelOp> optimizer_ops() {
  return {kernel_op({.name = "sgd_step",
                     .inputs = {{"m"}, {"m"}, {"m"}, FormulaInput::scalar()},
                     .reference = sgd_step,
                     .outputs = {{.name = "param"}, {.name = "momentum_buffer"}},
                     .signature = "[m], [m], [m], [] -> [m], [m]"}),
          adam("adam_step", 0), adam("adamw_step", 0.01)};
}

}  // namespace halfgrad::testing::detail
