#pragma once

#include <halfgrad/testing/kernel_formula.h>

/// The formulas of optimizers that several ops share.
namespace halfgrad::testing::detail {

inline constexpr double kMomentum = 0.9, kSgdRate = 0.01;
inline constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kAdamRate = 1e-3, kAdamEps = 1e-8;

/// Sets the first parameters to values that tell where the decay and eps come in: a step from 0 is
/// not decayed, and eps in the root is far more than sqrt(v) = 1e-8. Operands are param, grad,
/// exp_avg and exp_avg_sq.
void set_telling_parameters(std::vector<Values>& in);

/// 1 - beta^n for t = n, by a double, by products or by a library's pow.
BoundedArray one_minus_power(const BoundedArray& like, double beta, int n);

/// The state of Adam for one parameter, and the gradient.
struct AdamInput {
  BoundedArray param, grad, exp_avg, exp_avg_sq;
};

/// The step of Adam (Kingma and Ba, 2015) whose bias corrections 1 - beta^t are given. With m and v
/// for exp_avg and exp_avg_sq, and g for the gradient:
///
///     m' = 0.9 m + 0.1 g,  v' = 0.999 v + 0.001 g^2
///     param' = param - 0.001 / correction1 m' / (sqrt(v' / correction2) + eps)
///
/// after param (1 - 0.001 decay) if the decay is decoupled (Loshchilov and Hutter, 2019).
BoundedArrays adam_update(const AdamInput& in, const BoundedArray& correction1,
                          const BoundedArray& correction2, double decay, double eps);

/// buffer' = 0.9 buffer + g,  param' = param - 0.01 buffer'
BoundedArrays sgd_update(const BoundedArray& param, const BoundedArray& g,
                         const BoundedArray& buffer);

}  // namespace halfgrad::testing::detail
