#pragma once

#include <vector>

#include <halfgrad/core/array.h>

/// Hand-written kernels for an MLP of narrow layers, with relu between them:
///
///     h_0 = x,   h_{l+1} = relu(h_l W_l^T + b_l),   y = h_{L-1} W_{L-1}^T + b_{L-1}
///
/// One launch computes y, and two compute all gradients. Activations stay in registers and shared
/// memory: memory sees x, y, dy and the parameters. backward computes the activations again instead
/// of loading them. Every h_l, its gradient, and the sums of a parameter's gradient are rounded to
/// the dtype where the layers one by one would round them.
namespace halfgrad::detail {

inline constexpr int kMostMlpLayers = 8;
inline constexpr int kWidestMlp = 128;

/// x [rows, n_0], weights[l] [n_{l+1}, n_l] and biases[l] [n_{l+1}], which may be undefined. All
/// are contiguous and have one dtype.
struct MlpArrays {
  Array x;
  std::vector<Array> weights, biases;
};

/// Returns whether the kernels take these operands: f16 or bf16, at most kMostMlpLayers layers of
/// 1 to kWidestMlp features, at least one row, and a GPU whose shared memory holds the weights.
bool mlp_fits_cuda(const MlpArrays& mlp);

/// Computes y [rows, n_L].
void mlp_on_cuda(const MlpArrays& mlp, const Array& y);

struct MlpGradients {
  Array dx;  ///< undefined if it was not asked for
  std::vector<Array> weights, biases;
};

/// Returns the gradients for dy [rows, n_L], contiguous. The sums over rows are added in an order
/// that depends on the shapes and on the number of the GPU's multiprocessors.
MlpGradients mlp_gradient_on_cuda(const MlpArrays& mlp, const Array& dy, bool with_dx);

}  // namespace halfgrad::detail
