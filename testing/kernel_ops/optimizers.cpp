#include <cmath>

#include <halfgrad/testing/hostile_inputs.h>
#include <halfgrad/testing/kernel_ops/judged_op.h>
#include <halfgrad/testing/kernel_ops/optimizer_formulas.h>

/// Steps of optimizers with PyTorch's default parameters, whose gradients are scaled.
namespace halfgrad::testing::detail {
namespace {

using In = std::vector<BoundedArray>;

constexpr int kStep = 10;

// with g = grad inv_scale
BoundedArrays sgd_step(const In& in) { return sgd_update(in[0], in[1] * in[3], in[2]); }

// with g = grad inv_scale, at step 10
BoundedArrays adam_step(const In& in, double decay, double eps) {
  const BoundedArray g = in[1] * in[4];
  return adam_update({in[0], g, in[2], in[3]}, one_minus_power(g, kBeta1, kStep),
                     one_minus_power(g, kBeta2, kStep), decay, eps);
}

KernelOp adam(const char* name, double decay, double eps) {
  KernelOp op = kernel_op(
      {.name = name,
       .inputs = {{"m"}, {"m"}, {"m"}, FormulaInput{"m"}.between(0.01, 2), FormulaInput::scalar()},
       .reference = [=](const In& in) { return adam_step(in, decay, eps); },
       .admitted = [](std::size_t operand, double x) { return operand == 3 ? std::fabs(x) : x; },
       .outputs = {{.name = "param"}, {.name = "exp_avg"}, {.name = "exp_avg_sq"}},
       .signature = "[m], [m], [m], [m], [] -> [m], [m], [m]"});
  op.adjusted = [](const DrawnCase& drawn, std::vector<Values>& in) {
    if (drawn.kind == Hostile::integers) set_telling_parameters(in);
  };
  op.with_eps = [=](double own) { return adam(name, decay, own); };
  return op;
}

}  // namespace

std::vector<KernelOp> optimizer_ops() {
  return {kernel_op({.name = "sgd_step",
                     .inputs = {{"m"}, {"m"}, {"m"}, FormulaInput::scalar()},
                     .reference = sgd_step,
                     .outputs = {{.name = "param"}, {.name = "momentum_buffer"}},
                     .signature = "[m], [m], [m], [] -> [m], [m]"}),
          adam("adam_step", 0, kAdamEps), adam("adamw_step", 0.01, kAdamEps)};
}

}  // namespace halfgrad::testing::detail
