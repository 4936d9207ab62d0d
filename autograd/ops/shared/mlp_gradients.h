#pragma once

#include <halfgrad/core/cuda/kernels/mlp.h>

/// The gradients of mlp and mlp_cross_entropy on their device, for operands that mlp_fits() or,
/// with a loss, also mlp_loss_fits_cuda() accepts.
namespace halfgrad::detail {

/// Returns the gradients for dy [rows, n_L].
MlpGradients mlp_gradients(const MlpArrays& mlp, const Array& dy, bool with_dx);

/// Returns the gradients for dloss []. Computes the loss, too, if it is wanted.
MlpGradients mlp_loss_gradients(const MlpArrays& mlp, const MlpLoss& loss, const Array& dloss,
                                bool with_dx);

}  // namespace halfgrad::detail
