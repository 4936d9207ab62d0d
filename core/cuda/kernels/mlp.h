#pragma once

#include <cstdint>
#include <vector>

#include <halfgrad/core/array.h>

/// Hand-written kernels for an MLP of narrow layers, with an activation f between them:
///
///     h_0 = x,   z_l = h_l W_l^T + b_l,   h_{l+1} = f(z_l),   y = z_{L-1}
///
/// One launch computes y, and two compute all gradients of layers of at most 64 features.
/// Activations stay in registers and shared memory: memory sees x, y, dy and the parameters.
/// backward computes the activations again instead of loading them. Layers of at most 128 features
/// need one launch, and one for each layer. Every z_l and h_l, their gradients, and the sums of a
/// parameter's gradient are rounded to the dtype where the layers one by one would round them.
namespace halfgrad::detail {

inline constexpr int kMostMlpLayers = 8;
inline constexpr int kWidestMlp = 128;
inline constexpr int kWidestSummedMlp = 64;  ///< a block has no registers for the sums of wider dW

/// f; the two forms of gelu are those of core/math/gelu.h.
enum class MlpActivation : std::uint8_t { relu, gelu, gelu_tanh };

/// x [rows, n_0], weights[l] [n_{l+1}, n_l] and biases[l] [n_{l+1}], which may be undefined. All
/// are contiguous and have one dtype. Only x may be float32 beside 16-bit weights: it is rounded to
/// their dtype as it is loaded.
struct MlpArrays {
  Array x;
  std::vector<Array> weights, biases;
  MlpActivation activation = MlpActivation::relu;

  DType dtype() const { return weights.front().dtype(); }
};

/// Returns whether the kernels take these operands: f16 or bf16, at most kMostMlpLayers layers of
/// 1 to kWidestMlp features, at least one row, and a GPU whose shared memory holds the weights.
bool mlp_fits_cuda(const MlpArrays& mlp);

/// Computes y [rows, n_L] in the weights' dtype.
void mlp_on_cuda(const MlpArrays& mlp, const Array& y);

/// The gradients of an MLP's operands.
struct MlpGradients {
  Array dx;  ///< undefined if it was not asked for
  std::vector<Array> weights, biases;
};

/// Returns whether mlp_gradient_on_cuda and mlp_loss_gradient_on_cuda take these operands, which
/// mlp_fits_cuda has accepted: no layer has more than kWidestSummedMlp features, and z of all
/// layers fits into the shared memory if f is a gelu.
bool mlp_sums_fit_cuda(const MlpArrays& mlp);

/// Returns the gradients for dy [rows, n_L], contiguous. The sums over rows are added in an order
/// that depends on the shapes and on the number of the GPU's multiprocessors.
MlpGradients mlp_gradient_on_cuda(const MlpArrays& mlp, const Array& dy, bool with_dx);

/// The factors of the parameters' gradients, with g_l the gradient of h_l W_l^T + b_l:
///
///     dW_l = g_l^T h_l,   db_l = sum of the rows of g_l
struct MlpFactors {
  std::vector<Array> h, g;  ///< for each layer, [rows, n_l] and [rows, n_{l+1}]
  Array dx;                 ///< undefined if it was not asked for
};

/// Computes the factors in one launch, for all widths that mlp_fits_cuda accepts.
MlpFactors mlp_factors_on_cuda(const MlpArrays& mlp, const Array& dy, bool with_dx);

/// The mean cross entropy of y, for n_L classes:
///
///     loss = sum_r (log(sum_j exp(y_rj)) - y_rt) / rows
///
/// y is rounded to the weights' dtype, and so is its gradient: the results have the bits of
/// mlp_on_cuda, class_total.h and mlp_gradient_on_cuda one after the other. But y stays on the
/// chip.
struct MlpLoss {
  Array targets;  ///< int64 [rows], contiguous; indices.h says how a class out of range is reported
  Array loss = {};  ///< [], float32 or the weights' dtype: the output; undefined if not wanted
  Array kept = {};  ///< undefined, or a copy of `loss`
};

/// Returns whether the kernels below take these operands: mlp_fits_cuda(), and at most 2^23 rows.
bool mlp_loss_fits_cuda(const MlpArrays& mlp);

void mlp_loss_on_cuda(const MlpArrays& mlp, const MlpLoss& loss);

/// Computes the loss, if it is wanted, and returns the gradients for dloss [], of any floating
/// dtype. x is read once.
MlpGradients mlp_loss_gradient_on_cuda(const MlpArrays& mlp, const MlpLoss& loss,
                                       const Array& dloss, bool with_dx);
MlpFactors mlp_loss_factors_on_cuda(const MlpArrays& mlp, const MlpLoss& loss, const Array& dloss,
                                    bool with_dx);

/// Returns whether the two functions below take these operands, which mlp_fits_cuda has accepted,
/// or mlp_loss_fits_cuda: relu, a layer of more than 32 features, and compute capability 9.0.
bool mlp_fits_warpgroups(const MlpArrays& mlp);

/// Compute the gradients of mlp_gradient_on_cuda and mlp_loss_gradient_on_cuda, for layers of at
/// most kWidestMlp features. Sums are added in another order.
MlpGradients mlp_gradient_by_warpgroups(const MlpArrays& mlp, const Array& dy, bool with_dx);
MlpGradients mlp_loss_gradient_by_warpgroups(const MlpArrays& mlp, const MlpLoss& loss,
                                             const Array& dloss, bool with_dx);

}  // namespace halfgrad::detail
