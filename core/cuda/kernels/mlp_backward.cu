// The backward pass of a narrow MLP: one kernel for the gradients of all layers, and one that adds
// its partial sums. With g = dz_l, the gradient before the activation f, and dz_{L-1} = dy:
//
//     dW_l = g^T h_l,   db_l = sum of the rows of g,   dz_{l-1} = (g W_l) f'(z_{l-1})
//     dx = dz_0 W_0
//
// A block takes 128 rows at a time, 16 for each of its 8 warps, and keeps the sums of dW in its
// registers until all of its rows are done:
//
//     1. each warp    computes h_l again, stores it in shared memory, and a bit for each relu
//     2. each warp    stores g in shared memory
//     3. the block    adds g^T h_l, over all 128 rows, to dW: each warp owns some of its columns
//     4. each warp    multiplies its g, still in registers, by W_l; back to 2 for the layer before
//
// A gelu's derivative needs its argument: in step 1 z_{l-1} is stored in the place of h_l =
// f(z_{l-1}), and each warp replaces its own rows before step 3.
//
// A GPU has registers for the sums of `kGroup` layers. If there are more, blockIdx.y selects the
// layers whose gradients a block computes, and the others' activations are computed for each group.
//
// With a loss (mlp_loss.h), this kernel is the whole pass: step 1 also computes the logits and the
// losses, and dy is the gradient of the logits, which never leaves the chip.
//
// A row moves 2 (n_0 + n_L) bytes, as in the forward pass. The partial sums are 4 bytes a parameter
// for each block: 9 MB for 64-64-64-64-64-10 on 132 multiprocessors, written and read once.

#include <algorithm>

#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/kernels/mlp_loss.h>
#include <halfgrad/core/cuda/kernels/mlp_passes.h>
#include <halfgrad/core/cuda/kernels/mlp_sums.h>

namespace halfgrad::detail {
namespace {

// Layers whose gradients the registers of a block hold. With a gelu there are no others.
template <int kWidth>
constexpr int kGroup = kWidth <= 32 ? kMostMlpLayers : 5;

struct Gradients {
  const void* dy;  // null: the gradient of the loss
  void* dx;        // null if not needed
  float* parts;    // [gridDim.x, parameters]: the layers in order, a weight before its bias
  std::int64_t parameters;
};

// Shared memory after the layers: h of the group's layers, g, and the bits of relu.
template <class T, int kWidth>
struct BackwardTiles {
  static constexpr int kRows = kMlpTileRows * (kWidth + kPad);

  T* h;
  T* g;
  StoredReluBits<kWidth> relu_bits;

  __device__ BackwardTiles(T* memory, int group)
      : h(memory), g(h + group * kRows), relu_bits{reinterpret_cast<std::uint32_t*>(g + kRows)} {}
  static std::size_t bytes(int layers, int group) {
    return static_cast<std::size_t>(kRows) * 2 * static_cast<std::size_t>(group + 1) +
           StoredReluBits<kWidth>::bytes(layers);
  }
  __device__ T* h_of(int i) const { return h + i * kRows; }
  // The tile for g of the group's layer i. The last two layers have a tile of their own for g. Each
  // layer before them takes the tile of h_{i+2}, whose products are done: with one tile for all, a
  // warp would have to wait until the others have read the g before.
  __device__ T* g_of(int i, int group) const { return i + 2 < group ? h_of(i + 2) : g; }
};

// Calls f(std::integral_constant<int, i>()), because an array in registers can be indexed by
// constants only. An unrolled loop has constant indices, too, but would be longer than the
// instruction cache.
template <int kCount, int kFirst = 0, class F>
__device__ void with_constant(int i, const F& f) {
  if constexpr (kFirst < kCount) {
    if (i == kFirst) {
      f(std::integral_constant<int, kFirst>());
    } else {
      with_constant<kCount, kFirst + 1>(i, f);
    }
  }
}

template <class T, int kWidth, class F>
__global__ void __launch_bounds__(kMlpThreads, 1)
    mlp_backward(const __grid_constant__ MlpOperands op,
                 const __grid_constant__ Gradients gradients,
                 const __grid_constant__ MlpLossOperands loss) {
  constexpr int kStride = kWidth + kPad, kBlocks = kWidth / kBlock, kLayers = kGroup<kWidth>;
  extern __shared__ __align__(16) std::byte memory[];
  const SharedLayers<T, kWidth> layers(memory, op);
  layers.load(op);
  __syncthreads();

  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const Ownership<kWidth> own(warp);
  const int begin = static_cast<int>(blockIdx.y) * kLayers, end = min(begin + kLayers, op.layers);
  const BackwardTiles<T, kWidth> tiles(layers.end(op), min(kLayers, op.layers));
  const int first_of_warp = warp * kBlock * kStride;
  T* const own_g = tiles.g + first_of_warp;
  const WarpPasses<T, kWidth, F> passes{op, layers, tiles.relu_bits};
  const int in = op.sizes[0];
  // The blocks of one group store the losses.
  const OutputGradient output{gradients.dy, loss, begin == 0 ? loss.losses : nullptr,
                              loss.factor(op.rows)};
  LayerSums<kWidth> sums[kLayers];

  for (std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * kMlpTileRows; tile < op.rows;
       tile += static_cast<std::int64_t>(gridDim.x) * kMlpTileRows) {
    const std::int64_t first = tile + warp * kBlock;
    const int rows = rows_of_warp(op, first);
    prefetch_tile(op, loss, first + static_cast<std::int64_t>(gridDim.x) * kMlpTileRows, lane);
    // 1. The activations again.
    T* const x = (begin == 0 ? tiles.h_of(0) : tiles.g) + first_of_warp;
    load_x(PaddedTile<T, kWidth>{x}, op, first, rows, lane);
    __syncwarp();
    Fragment h[kBlocks] = {};
    load_fragments<T, kWidth>(h, x, op.blocks(0));
    __syncwarp();
    for (int l = 0; l < op.layers; ++l) {
      if (!F::kNeedsArgument && l > 0 && l >= begin && l < end) {  // h_0 = x is there
        store_fragments<T, kWidth>(tiles.h_of(l - begin) + first_of_warp, h, op.blocks(l));
      }
      if (l + 1 < op.layers) {
        passes.hidden_layer(h, l, rows, [&](const Fragment(&z)[kBlocks]) {
          store_fragments<T, kWidth>(tiles.h_of(l + 1) + first_of_warp, z, op.blocks(l + 1));
        });
      }
    }
    // 2. to 4., from the last layer to the first that this block or dx needs.
    Fragment g[kBlocks] = {};
    passes.start_back(g, h, output, own_g, first, rows);
    Fragment z[kBlocks] = {};
    for (int l = op.layers - 1; l >= end; --l) passes.step_back(g, l, rows, z);
#pragma unroll 1
    for (int i = end - begin - 1; i >= 0; --i) {
      const int l = begin + i;
      if (l + 2 == end) __syncthreads();  // all warps have read the g of the last layer
      T* const g_tile = tiles.g_of(i, end - begin);
      store_fragments<T, kWidth>(g_tile + first_of_warp, g, op.blocks(l + 1));
      if (F::kNeedsArgument && l > 0) {
        T* const place_of_h = tiles.h_of(i) + first_of_warp;
        __syncwarp();
        load_fragments<T, kWidth>(z, place_of_h, op.blocks(l));
        __syncwarp();
#pragma unroll
        for (int j = 0; j < kBlocks; ++j) h[j] = z[j];
        passes.activate_rows(h, rows);
        store_fragments<T, kWidth>(place_of_h, h, op.blocks(l));
      }
      __syncthreads();
      with_constant<kLayers>(i, [&](const auto own_i) {
        add_products(sums[own_i], own, g_tile, op.blocks(l + 1), tiles.h_of(own_i), op.blocks(l));
      });
      if (i > 0 || (l == 0 && gradients.dx != nullptr)) passes.step_back(g, l, rows, z);
    }
    __syncthreads();  // all warps have read h and g
    if (begin == 0 && gradients.dx != nullptr) {
      store_fragments<T, kWidth>(own_g, g, op.blocks(0));
      __syncwarp();
      store_rows(static_cast<T*>(gradients.dx) + first * in, PaddedTile<T, kWidth>{own_g}, rows, in,
                 lane);
      __syncwarp();
    }
  }
  if (output.losses != nullptr) {
    loss.sum.add_blocks(static_cast<std::int64_t>(blockIdx.x) * kMlpTileRows,
                        static_cast<std::int64_t>(gridDim.x) * kMlpTileRows);
  }

  float* part = gradients.parts + blockIdx.x * gradients.parameters;
  for (int l = 0; l < begin; ++l) part += op.sizes[l + 1] * (op.sizes[l] + 1);
#pragma unroll
  for (int i = 0; i < kLayers; ++i) {
    const int l = begin + i;
    if (l >= end) continue;
    store_sums(sums[i], own, part, op.sizes[l + 1], op.sizes[l]);
    part += op.sizes[l + 1] * (op.sizes[l] + 1);
  }
}

// The dynamic shared memory of a block.
template <class T, int kWidth>
std::size_t backward_bytes(const MlpOperands& op) {
  return bytes_of_layers<kWidth>(op) +
         BackwardTiles<T, kWidth>::bytes(op.layers, std::min(kGroup<kWidth>, op.layers));
}

// Either dy or `loss` is given.
MlpGradients gradients_of(const MlpArrays& mlp, const void* dy, const MlpLossOperands& loss,
                          bool with_dx) {
  const MlpOperands op = mlp_operands(mlp);
  const Launch launch(mlp.x, "mlp");
  const NewMlpGradients result(mlp, with_dx);
  const std::int64_t parameters = result.parameters;
  with_mlp_kernel<kWidestSummedMlp>(
      mlp, [&]<class T, int kWidth, class F>(T, std::integral_constant<int, kWidth>, F) {
        const auto kernel = mlp_backward<T, kWidth, F>;
        const std::size_t bytes = backward_bytes<T, kWidth>(op);
        const unsigned processors =
            resident_mlp_blocks(launch, reinterpret_cast<const void*>(kernel), bytes).processors;
        const dim3 blocks(std::min(processors, blocks_for(op.rows, kMlpTileRows)),
                          blocks_for(op.layers, kGroup<kWidth>));
        const Array parts = Array::empty({blocks.x, parameters}, DType::f32, mlp.x.device());
        const Gradients gradients{dy, result.dx(), parts.data_as<float>(), parameters};
        kernel<<<blocks, kMlpThreads, bytes, launch.stream()>>>(op, gradients, loss);
        launch.check();
        sum_parts<T><<<blocks_for(parameters, kMlpThreads), kMlpThreads, 0, launch.stream()>>>(
            op, gradients.parts, parameters, result.summed, static_cast<int>(blocks.x));
      });
  launch.check();
  return result.arrays;
}

}  // namespace

bool mlp_sums_fit_cuda(const MlpArrays& mlp) {
  if (mlp_width(mlp) > kWidestSummedMlp) return false;
  bool fits = false;
  with_mlp_kernel<kWidestSummedMlp>(
      mlp, [&]<class T, int kWidth, class F>(T, std::integral_constant<int, kWidth>, F) {
        const MlpOperands op = mlp_operands(mlp);
        fits = mlp_memory_fits(mlp, backward_bytes<T, kWidth>(op)) &&
               (!F::kNeedsArgument || op.layers <= kGroup<kWidth>);
      });
  return fits;
}

MlpGradients mlp_gradient_on_cuda(const MlpArrays& mlp, const Array& dy, bool with_dx) {
  return gradients_of(mlp, dy.data(), {}, with_dx);
}

MlpGradients mlp_loss_gradient_on_cuda(const MlpArrays& mlp, const MlpLoss& loss,
                                       const Array& dloss, bool with_dx) {
  return gradients_of(mlp, nullptr, MlpLossCall(mlp, loss, dloss).operands, with_dx);
}

}  // namespace halfgrad::detail
