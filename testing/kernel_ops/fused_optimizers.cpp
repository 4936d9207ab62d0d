#include <cmath>
#include <limits>

#include <halfgrad/core/fail.h>
#include <halfgrad/testing/hostile_inputs.h>
#include <halfgrad/testing/kernel_ops/judged_op.h>
#include <halfgrad/testing/kernel_ops/optimizer_formulas.h>

/// Whole steps under a loss scaler, as PyTorch's _fused_sgd_, _fused_adam_ and _fused_adamw_: the
/// gradient is divided by grad_scale, before weight decay; if found_inf is 1 the step is skipped,
/// and parameters, states and the count of steps stay as they are.
namespace halfgrad::testing::detail {
namespace {

using In = std::vector<BoundedArray>;

constexpr double kDecay = 0.1;

/// The results, or what they were before if found_inf is not 0.
BoundedArrays unless_found(const BoundedArray& found_inf, const std::vector<BoundedArray>& before,
                           const BoundedArrays& after) {
  std::vector<BoundedArray> results;
  for (std::size_t i = 0; i < before.size(); ++i) {
    results.push_back(where(found_inf, before[i], after[i]));
  }
  return results;
}

/// 1 - beta^n by a kernel that may call a library's pow, whose error is that of beta and its own.
BoundedArray correction(const BoundedArray& like, double beta, int n) {
  const AnyArithmetic& math = like.math();
  const BoundedArray products = pow(constant(like, beta), n);
  Bounded power = math.pow(math.number(beta), math.number(n));
  power.error += products.elements()[0].error;
  return either(one_minus_power(like, beta, n), 1 - BoundedArray(like.arithmetic(), {}, {power}));
}

// with g = grad / grad_scale + 0.1 param
BoundedArrays sgd(const In& in) {
  const BoundedArray g = in[1] / in[3] + kDecay * in[0];
  return unless_found(in[4], {in[0], in[2]}, sgd_update(in[0], g, in[2]));
}

/// The step that follows `done` steps.
int step_after(double done) {
  constexpr int kMost = 100'000;
  if (done >= 0 && done < kMost && done == std::floor(done)) return static_cast<int>(done) + 1;
  halfgrad::detail::fail("fused_adam_step", "expected a whole step from 0 to {}, got {}", kMost - 1,
                         done);
}

// with g = grad / grad_scale, plus 0.1 param unless the decay is decoupled, at step t + 1
BoundedArrays adam(const In& in, bool decoupled, double eps) {
  BoundedArray g = in[1] / in[5];
  if (!decoupled) g = g + kDecay * in[0];
  const int t = step_after(in[4].elements()[0].value);
  const BoundedArrays after = adam_update({in[0], g, in[2], in[3]}, correction(g, kBeta1, t),
                                          correction(g, kBeta2, t), decoupled ? kDecay : 0, eps);
  return unless_found(in[6], {in[0], in[2], in[3], in[4]},
                      {after[0], after[1], after[2], in[4] + 1});
}

/// Every third kind of inputs, and runs of -inf, are of a skipped step, with NaN and an infinity in
/// the gradient.
bool skips(Hostile kind) { return static_cast<int>(kind) % 3 == 1 || kind == Hostile::inf_runs; }

void set_scaler(Hostile kind, std::vector<Values>& in, std::size_t grad_scale) {
  in[grad_scale].data = {scale_from(in[grad_scale].data[0], 1, 3)};  // 2 to 16
  in[grad_scale + 1].data = {skips(kind) ? 1.0 : 0.0};
  std::vector<double>& grad = in[1].data;
  if (!skips(kind) || grad.empty()) return;
  grad[grad.size() / 2] = std::numeric_limits<double>::infinity();
  grad[0] = std::nan("");
}

/// Adds what the ops have in common; grad_scale and found_inf are the last two operands.
KernelOp fused(KernelOp op) {
  const std::size_t found_inf = op.operands({}).size() - 1;
  op.exact_for = [=](const std::vector<Values>& in) { return in[found_inf].data[0] != 0; };
  op.operand_dtypes = {{found_inf - 1, kFloat32}, {found_inf, kFloat32}};
  op.adjusted = [=](const DrawnCase& drawn, std::vector<Values>& in) {
    set_scaler(drawn.kind, in, found_inf - 1);
  };
  return op;
}

/// The count of steps before this one: below 31, in the hundreds or thousands, where the bias
/// corrections still count, or beyond 2^15, where they are 1. float16 has no 70,000.
double steps_done(Hostile kind, double drawn) {
  const double step = std::floor(drawn);
  const int number = static_cast<int>(kind);
  const double few = step >= 0 && step <= 30 ? step : number * 7 % 30;
  if (number % 8 == 4) return 97 * few + 500;
  return number % 8 == 6 ? few + 40'000 : few;
}

KernelOp fused_adam(const char* name, bool decoupled, double eps) {
  const FormulaInput scalar = FormulaInput::scalar();
  KernelOp op = fused(kernel_op(
      {.name = name,
       .inputs = {{"m"},
                  {"m"},
                  {"m"},
                  FormulaInput{"m"}.between(0.01, 2),
                  FormulaInput::scalar().between(0, 30),
                  scalar,
                  scalar},
       .reference = [=](const In& in) { return adam(in, decoupled, eps); },
       .admitted = [](std::size_t operand, double x) { return operand == 3 ? std::fabs(x) : x; },
       .outputs = {{.name = "param"},
                   {.name = "exp_avg"},
                   {.name = "exp_avg_sq"},
                   {.name = "step", .dtype = kFloat32}},
       .signature = "[m], [m], [m], [m], [], [], [] -> [m], [m], [m], []"}));
  op.operand_dtypes[4] = kFloat32;
  op.adjusted = [](const DrawnCase& drawn, std::vector<Values>& in) {
    set_scaler(drawn.kind, in, 5);
    if (drawn.kind == Hostile::integers) set_telling_parameters(in);
    in[4].data = {steps_done(drawn.kind, in[4].data[0])};
  };
  op.with_eps = [=](double own) { return fused_adam(name, decoupled, own); };
  return op;
}

}  // namespace

std::vector<KernelOp> fused_optimizer_ops() {
  return {fused(kernel_op(
              {.name = "fused_sgd_step",
               .inputs = {{"m"}, {"m"}, {"m"}, FormulaInput::scalar(), FormulaInput::scalar()},
               .reference = sgd,
               .outputs = {{.name = "param"}, {.name = "momentum_buffer"}},
               .signature = "[m], [m], [m], [], [] -> [m], [m]"})),
          fused_adam("fused_adam_step", false, kAdamEps),
          fused_adam("fused_adamw_step", true, kAdamEps)};
}

}  // namespace halfgrad::testing::detail
