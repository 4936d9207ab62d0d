#include <halfgrad/testing/kernel_ops/optimizer_formulas.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace halfgrad::testing::detail {
namespace {

/// 1 - beta; a kernel may compute it in its own precision, where it cancels.
BoundedArray one_minus(const BoundedArray& like, double beta) {
  return either(constant(like, 1 - beta), 1 - constant(like, beta));
}

/// beta a + (1 - beta) b, or PyTorch's a + (1 - beta) (b - a)
BoundedArray mixed(double beta, const BoundedArray& a, const BoundedArray& b) {
  const BoundedArray rest = one_minus(a, beta);
  return either(beta * a + rest * b, a + rest * (b - a));
}

}  // namespace

void set_telling_parameters(std::vector<Values>& in) {
  // 0x1p-10 is for float16: there the step of 1 / eps overflows, and 1e-16 is 0.
  constexpr double kAll[][4] = {{0, 0, 1, 0}, {1, 0, 1e-8, 1e-16}, {0, 0, 0x1p-10, 0}};
  for (std::size_t operand = 0; operand < std::size(kAll[0]); ++operand) {
    std::vector<double>& x = in[operand].data;
    for (std::size_t i = 0; i < std::min(x.size(), std::size(kAll)); ++i) x[i] = kAll[i][operand];
  }
}

BoundedArray one_minus_power(const BoundedArray& like, double beta, int n) {
  return either(constant(like, 1 - std::pow(beta, n)), 1 - pow(constant(like, beta), n));
}

BoundedArrays adam_update(const AdamInput& in, const BoundedArray& correction1,
                          const BoundedArray& correction2, double decay, double eps) {
  BoundedArray param = in.param;
  const BoundedArray &g = in.grad, rest = one_minus(g, kBeta2);
  const BoundedArray m = mixed(kBeta1, in.exp_avg, g);
  const BoundedArray v =
      either(kBeta2 * in.exp_avg_sq + rest * g * g, in.exp_avg_sq + rest * (g * g - in.exp_avg_sq));
  const BoundedArray divisor = sqrt(stored(v)) / sqrt(correction2) + eps;
  if (decay > 0) {
    param = either(param * (1 - kAdamRate * decay), param - kAdamRate * decay * param);
  }
  const BoundedArray rate = kAdamRate / correction1;
  // PyTorch's addcdiv multiplies first, which may underflow.
  const BoundedArray step = either(rate * (stored(m) / divisor), rate * stored(m) / divisor);
  return {param - step, m, v};
}

BoundedArrays sgd_update(const BoundedArray& param, const BoundedArray& g,
                         const BoundedArray& buffer) {
  const BoundedArray next = kMomentum * buffer + g;
  return {param - kSgdRate * stored(next), next};
}

}  // namespace halfgrad::testing::detail
