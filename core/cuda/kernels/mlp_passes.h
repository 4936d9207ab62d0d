#pragma once

#include <cstddef>
#include <cstdint>

#include <halfgrad/core/cuda/kernels/mlp_loss.h>
#include <halfgrad/core/cuda/kernels/mlp_tile.h>

/// The passes of a warp's 16 rows through the layers of an MLP, forward and back, as the kernels
/// for its gradients need them.
namespace halfgrad::detail {

/// A bit for each element of an activation of these rows: whether relu passes its gradient.
template <int kWidth>
struct ReluBits {
  static constexpr int kBlocksPerWord = 4;  ///< bits_of_relu()
  static constexpr int kWords = (kWidth / kBlock + kBlocksPerWord - 1) / kBlocksPerWord;

  std::uint32_t words[kWords] = {};

  __device__ void add(int block, std::uint32_t bits) {
    words[block / kBlocksPerWord] |= bits << (4 * (block % kBlocksPerWord));
  }
  __device__ std::uint32_t of(int block) const {
    return words[block / kBlocksPerWord] >> (4 * (block % kBlocksPerWord));
  }
};

/// The bits of all activations in shared memory. A thread reads what it wrote.
template <int kWidth>
struct StoredReluBits {
  std::uint32_t* words;  ///< [layers - 1, kWords, threads]

  static std::size_t bytes(int layers) {
    return static_cast<std::size_t>((layers - 1) * ReluBits<kWidth>::kWords * kMlpThreads) *
           sizeof(std::uint32_t);
  }
  __device__ std::uint32_t& word(int l, int i) const {
    return words[(l * ReluBits<kWidth>::kWords + i) * kMlpThreads + static_cast<int>(threadIdx.x)];
  }
  __device__ void store(int l, const ReluBits<kWidth>& bits) const {
#pragma unroll
    for (int i = 0; i < ReluBits<kWidth>::kWords; ++i) word(l, i) = bits.words[i];
  }
  __device__ ReluBits<kWidth> load(int l) const {
    ReluBits<kWidth> bits;
#pragma unroll
    for (int i = 0; i < ReluBits<kWidth>::kWords; ++i) bits.words[i] = word(l, i);
    return bits;
  }
};

/// The gradient of the output: dy, or that of the loss.
struct OutputGradient {
  const void* dy;  ///< null: the gradient of the loss
  const MlpLossOperands& loss;
  float* losses;  ///< one for each row; null: not wanted
  float factor;   ///< MlpLossOperands::factor()
};

template <class T, int kWidth, class F>
struct WarpPasses {
  static constexpr int kStride = kWidth + kPad, kBlocks = kWidth / kBlock;
  using Rows = Fragment[kBlocks];

  const MlpOperands& op;
  const SharedLayers<T, kWidth>& layers;
  StoredReluBits<kWidth> relu_bits;

  /// h_{l+1} = f(z_l), z_l = h_l W_l^T + b_l, for each layer but the last. Rows from `rows` on
  /// become 0. Keeps the bits of a relu, or calls keep(z_l), since a gelu needs z_l again.
  template <class Keep>
  __device__ void hidden_layer(Rows& h, int l, int rows, const Keep& keep) const {
    Fragment next[kBlocks] = {};
    ReluBits<kWidth> bits;
    multiply_rows<T, kWidth, true>(h, op.blocks(l), layers.weight(op, l), op.blocks(l + 1),
                                   [&](int j, const float(&products)[2][4]) {
                                     next[j] = add_bias<T>(products, layers.bias(l) + j * kBlock);
                                     if constexpr (!F::kNeedsArgument) {
                                       activate<T, F>(next[j], op.activation);
                                       bits.add(j, bits_of_relu<T>(next[j]));
                                     }
                                   });
    if constexpr (F::kNeedsArgument) {
      keep(next);
      activate_rows(next, rows);
    } else {
      clear_rows(next, rows);
      relu_bits.store(l, bits);
    }
#pragma unroll
    for (int j = 0; j < kBlocks; ++j) h[j] = next[j];
  }

  /// z becomes f(z), and 0 from row `rows` on.
  __device__ void activate_rows(Rows& z, int rows) const {
#pragma unroll
    for (int j = 0; j < kBlocks; ++j) activate<T, F>(z[j], op.activation);
    clear_rows(z, rows);
  }

  /// g = the gradient of the output for h, the last layer's operand. Uses the warp's tile.
  __device__ void start_back(Rows& g, const Rows& h, const OutputGradient& gradient, T* tile,
                             std::int64_t first, int rows) const {
    const int last = op.layers - 1, out = op.sizes[op.layers];
    if (gradient.dy != nullptr) {
      load_rows<T>(PaddedTile<T, kWidth>{tile}, kBlock, op.blocks(op.layers) * kBlock,
                   static_cast<const T*>(gradient.dy) + first * out, rows, out,
                   static_cast<int>(threadIdx.x) % kWarp, kWarp);
      __syncwarp();
      load_fragments<T, kWidth>(g, tile, op.blocks(op.layers));
      __syncwarp();
      return;
    }
    multiply_rows<T, kWidth, true>(h, op.blocks(last), layers.weight(op, last),
                                   op.blocks(op.layers), [&](int j, const float(&products)[2][4]) {
                                     g[j] = add_bias<T>(products, layers.bias(last) + j * kBlock);
                                   });
    store_fragments<T, kWidth>(tile, g, op.blocks(op.layers));
    __syncwarp();
    const RowOfLoss of_row =
        loss_of_rows<T, kWidth>(gradient.loss, gradient.losses, tile, out, first, rows);
    __syncwarp();
    to_gradient<T>(g, out, gradient.factor, of_row);
  }

  /// g_{l-1} = (g_l W_l) f'(z_{l-1}), where relu'(z_{l-1}) = [h_l > 0], or dx = g_0 W_0. `z`:
  /// z_{l-1} for a gelu and l > 0.
  __device__ void step_back(Rows& g, int l, int rows, const Rows& z) const {
    ReluBits<kWidth> bits;
    if (!F::kNeedsArgument && l > 0) {
      bits = relu_bits.load(l - 1);
    } else {
#pragma unroll
      for (std::uint32_t& word : bits.words) word = 0xffffffff;
    }
    Fragment before[kBlocks] = {};
    multiply_rows<T, kWidth, false>(g, op.blocks(l + 1), layers.weight(op, l), op.blocks(l),
                                    [&](int j, const float(&products)[2][4]) {
                                      if constexpr (F::kNeedsArgument) {
                                        before[j] = rounded<T>(products);
                                        if (l > 0) multiply_by_slope(before[j], z[j]);
                                      } else {
                                        before[j] = mask<T>(products, bits.of(j));
                                      }
                                    });
    clear_rows(before, rows);
#pragma unroll
    for (int j = 0; j < kBlocks; ++j) g[j] = before[j];
  }

 private:
  /// dh becomes dz = dh f'(z).
  __device__ void multiply_by_slope(Fragment& dh, const Fragment& z) const {
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      dh.part[part] = F::template gradient<T>(op.activation, dh.part[part], z.part[part]);
    }
  }
};

}  // namespace halfgrad::detail
