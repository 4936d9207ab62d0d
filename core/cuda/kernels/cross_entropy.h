#pragma once

#include <halfgrad/core/array.h>

/// Hand-written kernels for cross_entropy of classes. x is [n, c]; `targets` is float32 [n, 2]: the
/// class of each row, -1 if it is ignored, and its weight. The functions return false and do
/// nothing for operands that the kernels do not take: f64, rows that are not aligned multiples of 8
/// elements, and few long rows.
namespace halfgrad::detail {

/// Computes losses [n, 1] and lse, float32 [n, 1]:
///
///     lse = log(sum_j exp(x_j)),   loss = w (lse - x_t)
bool class_loss_on_cuda(const Array& x, const Array& targets, const Array& losses,
                        const Array& lse);

/// Computes dx from dloss [n, 1]:
///
///     dx_i = dloss w (exp(x_i - lse) - [i = t])
bool class_gradient_on_cuda(const Array& dloss, const Array& x, const Array& targets,
                            const Array& lse, const Array& dx);

}  // namespace halfgrad::detail
