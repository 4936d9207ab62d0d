#pragma once

#include <algorithm>
#include <type_traits>

#include <halfgrad/core/cuda/kernels/mlp_tile.h>

/// The sums over rows in the backward kernel of an MLP: dW = g^T h and db = g^T 1 of one layer, in
/// the registers of a block.
namespace halfgrad::detail {

/// A warp's columns of dW: 16 rows of dW, and its share of the columns.
template <int kWidth>
struct Ownership {
  static constexpr int kBlocks = kWidth / kBlock;
  static constexpr int kShares = std::min(kMlpWarps / kBlocks, kBlocks);
  static constexpr int kColumnBlocks = kBlocks / kShares;  // for each warp

  int row_block, share;

  __device__ explicit Ownership(int warp) : row_block(warp % kBlocks), share(warp / kBlocks) {}
  __device__ bool any() const { return share < kShares; }
  __device__ int column_block(int i) const { return share * kColumnBlocks + i; }
};

/// The sums of one layer's gradients that a warp owns. All 8 columns of `bias` are the same.
template <int kWidth>
struct LayerSums {
  float weight[Ownership<kWidth>::kColumnBlocks][2][4] = {};
  float bias[4] = {};
};

/// Adds g^T h, and g^T 1, over the rows of a tile. All shares add g^T 1, though one stores it, and
/// a layer of the kernel's width has code of its own: a branch would make a product wait for the
/// operands of the one before.
template <class T, int kWidth>
__device__ void add_products(LayerSums<kWidth>& sums, const Ownership<kWidth>& own, const T* g,
                             int out_blocks, const T* h, int in_blocks) {
  constexpr int kStride = kWidth + kPad;
  if (!own.any() || own.row_block >= out_blocks) return;
  const auto add = [&](const auto columns) {
#pragma unroll
    for (int row = 0; row < kMlpTileRows; row += kBlock) {
      const Fragment a = load_a_transposed(g + row * kStride + own.row_block * kBlock, kStride);
#pragma unroll
      for (int i = 0; i < own.kColumnBlocks; ++i) {
        if (i >= columns) continue;
        const Fragment b = load_b(h + row * kStride + own.column_block(i) * kBlock, kStride);
        multiply_add<T>(sums.weight[i][0], a, b.part[0], b.part[1]);
        multiply_add<T>(sums.weight[i][1], a, b.part[2], b.part[3]);
      }
      multiply_add<T>(sums.bias, a, PairOf<T>::kOnes, PairOf<T>::kOnes);
    }
  };
  const int columns = in_blocks - own.column_block(0);
  if (columns >= own.kColumnBlocks) {
    add(std::integral_constant<int, own.kColumnBlocks>());
  } else {
    add(columns);
  }
}

/// Stores a warp's sums of dW and db in the block's part, which begins at `part` for this layer.
template <int kWidth>
__device__ void store_sums(const LayerSums<kWidth>& sums, const Ownership<kWidth>& own, float* part,
                           int out, int in) {
  if (!own.any()) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int down = 0; down < 2; ++down) {
    const int row = own.row_block * kBlock + down * 8 + lane / 4;
    if (row >= out) continue;
#pragma unroll
    for (int i = 0; i < own.kColumnBlocks; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int column = own.column_block(i) * kBlock + half * 8 + lane % 4 * 2;
        if (column < in) part[row * in + column] = sums.weight[i][half][down * 2];
        if (column + 1 < in) part[row * in + column + 1] = sums.weight[i][half][down * 2 + 1];
      }
    }
    if (own.share == 0 && lane % 4 == 0) part[out * in + row] = sums.bias[down * 2];
  }
}

/// The gradients of the parameters.
struct SummedGradients {
  void* weights[kMostMlpLayers];
  void* biases[kMostMlpLayers];  ///< null: no bias
};

/// Arrays for all gradients of a backward pass, and where they lie.
struct NewMlpGradients {
  NewMlpGradients(const MlpArrays& mlp, bool with_dx) {
    const auto like = [](const Array& a) { return Array::empty(a.sizes(), a.dtype(), a.device()); };
    if (with_dx) arrays.dx = Array::empty(mlp.x.sizes(), mlp.dtype(), mlp.x.device());
    for (std::size_t l = 0; l < mlp.weights.size(); ++l) {
      const Array &weight = mlp.weights[l], &bias = mlp.biases[l];
      arrays.weights.push_back(like(weight));
      arrays.biases.push_back(bias.defined() ? like(bias) : Array());
      summed.weights[l] = arrays.weights[l].data();
      summed.biases[l] = bias.defined() ? arrays.biases[l].data() : nullptr;
      parameters += weight.numel() + weight.size(0);
    }
  }
  void* dx() const { return arrays.dx.defined() ? arrays.dx.data() : nullptr; }

  MlpGradients arrays;
  SummedGradients summed{};
  std::int64_t parameters = 0;  ///< with a bias for each layer, as sum_parts has them
};

/// Adds the parts of each parameter, in order. `parts` is [count, parameters]: the layers in order,
/// a weight before its bias.
template <class T>
__global__ void __launch_bounds__(kMlpThreads)
    sum_parts(const __grid_constant__ MlpOperands op, const float* parts, std::int64_t parameters,
              const __grid_constant__ SummedGradients to, int count) {
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kMlpThreads + threadIdx.x;
  if (i >= parameters) return;
  float sum = 0;
#pragma unroll 8
  for (int part = 0; part < count; ++part) sum += parts[part * parameters + i];
  for (int l = 0; l < op.layers; ++l) {
    const int out = op.sizes[l + 1], weights = out * op.sizes[l];
    if (i < weights) {
      static_cast<T*>(to.weights[l])[i] = T(sum);
      return;
    }
    i -= weights;
    if (i < out) {
      if (to.biases[l] != nullptr) static_cast<T*>(to.biases[l])[i] = T(sum);
      return;
    }
    i -= out;
  }
}

}  // namespace halfgrad::detail
