#pragma once

#include <halfgrad/core/cuda/kernels/mlp.h>

/// An MLP on the CPU, a tile of rows at a time through all layers, so that activations stay in the
/// cache. The operands are those of core/cuda/kernels/mlp.h, in any floating-point dtype.
namespace halfgrad::detail {

/// Returns whether the weights and a tile fit into the L2 cache.
bool mlp_fits_cpu(const MlpArrays& mlp);

void mlp_on_cpu(const MlpArrays& mlp, const Array& y);

/// The partial sums of a weight's or bias's gradient, and their order, depend on the batch alone,
/// not on the number of threads.
MlpGradients mlp_gradient_on_cpu(const MlpArrays& mlp, const Array& dy, bool with_dx);

/// The loss of mlp.h, and its gradients, with the bits of cross_entropy. Here `loss.targets` is
/// ClassTargets::encoded.
void mlp_loss_on_cpu(const MlpArrays& mlp, const MlpLoss& loss);
MlpGradients mlp_loss_gradient_on_cpu(const MlpArrays& mlp, const MlpLoss& loss, const Array& dloss,
                                      bool with_dx);

}  // namespace halfgrad::detail
