#pragma once

#include <halfgrad/core/array.h>

/// cross_entropy of classes by kernels written by hand. x is [n, c]; `targets` float32 [n, 2]: each
/// row's class, -1 where it is ignored, and its weight. False, with nothing done, where they do not
/// take the operands: f64, rows that are not whole aligned packs, or few and long.
namespace halfgrad::detail {

/// losses [n, 1] = w (lse - x_t) and lse float32 [n, 1] = log(sum_j exp(x_j)).
bool class_loss_on_cuda(const Array& x, const Array& targets, const Array& losses,
                        const Array& lse);

/// dx = dloss w (exp(x - lse) - [i = t]); dloss [n, 1].
bool class_gradient_on_cuda(const Array& dloss, const Array& x, const Array& targets,
                            const Array& lse, const Array& dx);

}  // namespace halfgrad::detail
