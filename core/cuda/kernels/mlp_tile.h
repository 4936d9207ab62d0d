#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <halfgrad/core/array.h>
#include <halfgrad/core/cuda/engines/group.h>
#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/kernels/mlp.h>
#include <halfgrad/core/cuda/kernels/mlp_activation.h>
#include <halfgrad/core/cuda/kernels/mlp_blocks.h>
#include <halfgrad/core/cuda/kernels/mlp_fragments.h>
#include <halfgrad/core/cuda/kernels/mlp_rows.h>

/// The parts that the forward and the backward kernel of an MLP share: its operands, the weights in
/// shared memory, and one layer for the 16 rows of a warp.
namespace halfgrad::detail {

inline constexpr int kMlpWarps = 8;
inline constexpr int kMlpThreads = 32 * kMlpWarps;
inline constexpr int kMlpTileRows =
    kMlpWarps * kBlock;  ///< rows that a block computes at once: 128

/// The operands as a kernel's parameter.
struct MlpOperands {
  const void* x;
  bool x_is_float;  ///< x is float32, and is rounded to the weights' dtype as it is loaded
  const void* weights[kMostMlpLayers];
  const void* biases[kMostMlpLayers];  ///< null: no bias
  MlpActivation activation;
  std::int64_t rows;
  int layers;
  int sizes[kMostMlpLayers + 1];  ///< features before and after each layer
  /// The first element of each weight in shared memory, and the end of all.
  int offsets[kMostMlpLayers + 1];

  /// Blocks of 16 features that cover sizes[l].
  __device__ int blocks(int l) const { return (sizes[l] + kBlock - 1) / kBlock; }
};

/// Returns how many of a warp's 16 rows, from row `first`, are in the batch.
inline __device__ int rows_of_warp(const MlpOperands& op, std::int64_t first) {
  return static_cast<int>(std::clamp<std::int64_t>(op.rows - first, 0, kBlock));
}

/// Loads 16 rows of x, from row `first`, to a warp's tile: `rows` of them are in the batch.
template <class T, int kWidth>
__device__ void load_x(const PaddedTile<T, kWidth>& tile, const MlpOperands& op, std::int64_t first,
                       int rows, int lane) {
  const int in = op.sizes[0], columns = op.blocks(0) * kBlock;
  if (op.x_is_float) {
    load_rows<T>(tile, kBlock, columns, static_cast<const float*>(op.x) + first * in, rows, in,
                 lane, kWarp);
  } else {
    load_rows<T>(tile, kBlock, columns, static_cast<const T*>(op.x) + first * in, rows, in, lane,
                 kWarp);
  }
}

/// Prefetches the `rows` rows of x that load_x() will load for the warp's next tile.
inline __device__ void prefetch_x(const MlpOperands& op, std::int64_t first, int rows, int lane) {
  const std::int64_t row = op.sizes[0] * (op.x_is_float ? 4 : 2);
  prefetch(static_cast<const std::byte*>(op.x) + first * row, rows * row, lane);
}

/// The weights and biases of all layers in shared memory, padded with zeros to whole blocks. The
/// biases are widened.
template <class T, int kWidth>
struct SharedLayers {
  static constexpr int kStride = kWidth + kPad;

  T* first_weight;
  float* first_bias;

  __device__ SharedLayers(std::byte* memory, const MlpOperands& op)
      : first_weight(reinterpret_cast<T*>(memory)),
        first_bias(reinterpret_cast<float*>(first_weight + op.offsets[op.layers])) {}

  __device__ const T* weight(const MlpOperands& op, int l) const {
    return first_weight + op.offsets[l];
  }
  __device__ const float* bias(int l) const { return first_bias + l * kWidth; }
  /// The memory after the layers.
  __device__ T* end(const MlpOperands& op) const {
    return reinterpret_cast<T*>(first_bias + op.layers * kWidth);
  }

  /// All threads of the block call it. The caller synchronises.
  __device__ void load(const MlpOperands& op) const {
    const int rank = static_cast<int>(threadIdx.x);
    for (int l = 0; l < op.layers; ++l) {
      const int in = op.sizes[l], out = op.sizes[l + 1];
      load_rows<T>(PaddedTile<T, kWidth>{first_weight + op.offsets[l]}, op.blocks(l + 1) * kBlock,
                   op.blocks(l) * kBlock, static_cast<const T*>(op.weights[l]), out, in, rank,
                   kMlpThreads);
      const T* const from = static_cast<const T*>(op.biases[l]);
      for (int i = rank; i < kWidth; i += kMlpThreads) {
        first_bias[l * kWidth + i] = from != nullptr && i < out ? static_cast<float>(from[i]) : 0;
      }
    }
  }
};

/// Multiplies a warp's 16 rows by kColumns blocks of columns of a weight, W^T or W, from block
/// `first` on. The sums do not depend on each other, so the tensor cores start one product after
/// the other without waiting for a result. Depth is int, or a constant: then there is no branch.
template <class T, int kWidth, bool kByTranspose, int kColumns, class Depth, class Use>
__device__ void multiply_columns(const Fragment (&rows)[kWidth / kBlock], Depth depth_blocks,
                                 const T* weight, int first, const Use& use) {
  constexpr int kStride = kWidth + kPad;
  float sums[kColumns][2][4] = {};
#pragma unroll
  for (int k = 0; k < kWidth / kBlock; ++k) {
    if (k >= depth_blocks) continue;
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const int j = first + i;
      const Fragment b =
          kByTranspose ? load_b_transposed(weight + j * kBlock * kStride + k * kBlock, kStride)
                       : load_b(weight + k * kBlock * kStride + j * kBlock, kStride);
      multiply_add<T>(sums[i][0], rows[k], b.part[0], b.part[1]);
      multiply_add<T>(sums[i][1], rows[k], b.part[2], b.part[3]);
    }
  }
#pragma unroll
  for (int i = 0; i < kColumns; ++i) use(first + i, sums[i]);
}

/// Multiplies a warp's 16 rows by a weight, W^T or W, and calls use(j, sums) with the float sums
/// of each 16 columns: sums[0] for columns 16 j to 16 j + 7, sums[1] for the next 8. A depth or
/// a number of columns that is the kernel's width has code of its own, without branches.
template <class T, int kWidth, bool kByTranspose, class Use>
__device__ void multiply_rows(const Fragment (&rows)[kWidth / kBlock], int depth_blocks,
                              const T* weight, int column_blocks, const Use& use) {
  constexpr int kBlocks = kWidth / kBlock;
  const auto multiply = [&](const auto depth) {
    if (column_blocks == kBlocks) {
      multiply_columns<T, kWidth, kByTranspose, kBlocks>(rows, depth, weight, 0, use);
      return;
    }
#pragma unroll
    for (int j = 0; j < kBlocks; ++j) {
      if (j >= column_blocks) continue;
      multiply_columns<T, kWidth, kByTranspose, 1>(rows, depth, weight, j, use);
    }
  };
  if (depth_blocks == kBlocks) {
    multiply(std::integral_constant<int, kBlocks>());
  } else {
    multiply(depth_blocks);
  }
}

/// Takes a warp's rows through all layers. The last one has no activation.
template <class F, class T, int kWidth>
__device__ void compute_layers(Fragment (&h)[kWidth / kBlock], const MlpOperands& op,
                               const SharedLayers<T, kWidth>& layers) {
  constexpr int kBlocks = kWidth / kBlock;
  for (int l = 0; l < op.layers; ++l) {
    const bool last = l + 1 == op.layers;
    Fragment next[kBlocks] = {};
    multiply_rows<T, kWidth, true>(h, op.blocks(l), layers.weight(op, l), op.blocks(l + 1),
                                   [&](int j, const float(&sums)[2][4]) {
                                     next[j] = add_bias<T>(sums, layers.bias(l) + j * kBlock);
                                     if (!last) activate<T, F>(next[j], op.activation);
                                   });
#pragma unroll
    for (int j = 0; j < kBlocks; ++j) h[j] = next[j];
  }
}

/// The operands for the kernels of this width.
MlpOperands mlp_operands(const MlpArrays& mlp);

/// The smallest width of a kernel, 32, 64 or 128, that holds every layer.
int mlp_width(const MlpArrays& mlp);

/// Calls f(T(), std::integral_constant<int, width>(), F()) for the element type and width of a
/// kernel, which is at most kWidest, and its activation: MlpRelu or MlpGelu.
template <int kWidest = kWidestMlp, class F>
void with_mlp_kernel(const MlpArrays& mlp, const F& f) {
  const auto with_activation = [&](auto element, auto width) {
    if (mlp.activation == MlpActivation::relu) return f(element, width, MlpRelu());
    f(element, width, MlpGelu());
  };
  const auto with_width = [&](auto element) {
    const int width = mlp_width(mlp);
    if (width == 32) return with_activation(element, std::integral_constant<int, 32>());
    if constexpr (kWidest > 64) {
      if (width > 64) return with_activation(element, std::integral_constant<int, kWidest>());
    }
    with_activation(element, std::integral_constant<int, 64>());
  };
  if (mlp.dtype() == DType::f16) return with_width(__half());
  with_width(__nv_bfloat16());
}

/// Returns a property of the launch's device.
int device_attribute(const Launch& launch, cudaDeviceAttr which);

/// Blocks of a kernel that run at the same time: at least one on each multiprocessor.
struct ResidentBlocks {
  unsigned processors, all;
};
/// Lets the kernel use `bytes` of dynamic shared memory, and counts its blocks.
ResidentBlocks resident_mlp_blocks(const Launch& launch, const void* kernel, std::size_t bytes);

/// Returns whether a block of the GPU can have `bytes` of dynamic shared memory beside what the sum
/// of the losses takes.
bool mlp_memory_fits(const MlpArrays& mlp, std::size_t bytes);

/// The bytes of shared memory that SharedLayers takes, and those of n rows of a tile.
template <int kWidth>
std::size_t bytes_of_layers(const MlpOperands& op) {
  return static_cast<std::size_t>(op.offsets[op.layers]) * 2 +
         static_cast<std::size_t>(op.layers) * kWidth * sizeof(float);
}
template <int kWidth>
constexpr std::size_t bytes_of_rows(int n) {
  return static_cast<std::size_t>(n) * (kWidth + kPad) * 2;
}

}  // namespace halfgrad::detail
