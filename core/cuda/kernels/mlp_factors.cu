// The backward pass of an MLP whose layers are too wide for mlp_backward.cu: a block has no
// registers for the sums of a 128 x 128 weight's gradient. So this kernel stores the two factors of
// every such gradient, and a product for each layer multiplies them, dW_l = g_l^T h_l:
//
//     x, 16 rows   h_1          h_2                  logits         Each arrow is a product with a
//    +-------+    +-------+    +-------+            +-------+       weight in shared memory. All
//    |       | -> |       | -> |       | -- ... --> |       |       lies in the registers of one
//    +-------+    +-------+    +-------+            +-------+       warp (mlp_fragments.h), and a
//                     | relu > 0   | relu > 0           | loss     copy of h_l and g_l goes to
//    +-------+    +-------+    +-------+            +-------+       memory.
//    |  dx   | <- |  g_0  | <- |  g_1  | <- ... --- | g_L-1 |
//    +-------+    +-------+    +-------+            +-------+
//
// The argument of a gelu, which its derivative needs, waits in the memory of its gradient g_l.
//
// A row stores 2 (2 n_1 + ... + 2 n_{L-1} + n_L) bytes: 2,068 for 128-128-128-128-128-10. The
// products read them again. Predicted for 2^18 rows on an H100, not measured: 750 MB and 220 us for
// this kernel, bound by the loads of weights from shared memory, 32 KiB for each layer of a warp's
// rows.

#include <algorithm>

#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/kernels/mlp_loss.h>
#include <halfgrad/core/cuda/kernels/mlp_passes.h>

namespace halfgrad::detail {
namespace {

// The memory of the factors.
struct FactorOperands {
  void* h[kMostMlpLayers];  // h[0]: null if x has the factors' dtype
  void* g[kMostMlpLayers];
  void* dx;        // null if not needed
  const void* dy;  // null: the gradient of the loss
};

template <class T, int kWidth, class F>
__global__ void __launch_bounds__(kMlpThreads, 1)
    mlp_factors(const __grid_constant__ MlpOperands op, const __grid_constant__ FactorOperands to,
                const __grid_constant__ MlpLossOperands loss) {
  constexpr int kStride = kWidth + kPad, kBlocks = kWidth / kBlock;
  extern __shared__ __align__(16) std::byte memory[];
  const SharedLayers<T, kWidth> layers(memory, op);
  layers.load(op);
  __syncthreads();

  const int lane = static_cast<int>(threadIdx.x) % kWarp,
            warp = static_cast<int>(threadIdx.x) / kWarp;
  T* const tiles = layers.end(op);
  T* const staged = tiles + warp * kBlock * kStride;
  const PaddedTile<T, kWidth> staged_tile{staged};
  const WarpPasses<T, kWidth, F> passes{
      op, layers, {reinterpret_cast<std::uint32_t*>(tiles + kMlpTileRows * kStride)}};
  const OutputGradient output{to.dy, loss, loss.losses, loss.factor(op.rows)};

  for (std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * kMlpTileRows; tile < op.rows;
       tile += static_cast<std::int64_t>(gridDim.x) * kMlpTileRows) {
    const std::int64_t first = tile + warp * kBlock;
    const int rows = rows_of_warp(op, first);
    const auto store = [&](void* all, const Fragment(&f)[kBlocks], int columns) {
      store_fragments<T, kWidth>(staged, f, (columns + kBlock - 1) / kBlock);
      __syncwarp();
      store_rows(static_cast<T*>(all) + first * columns, staged_tile, rows, columns, lane);
      __syncwarp();
    };
    const auto load_stored = [&](Fragment(&f)[kBlocks], const void* all, int columns) {
      const int blocks = (columns + kBlock - 1) / kBlock;
      load_rows<T>(staged_tile, kBlock, blocks * kBlock,
                   static_cast<const T*>(all) + first * columns, rows, columns, lane, kWarp);
      __syncwarp();
      load_fragments<T, kWidth>(f, staged, blocks);
      __syncwarp();
    };
    prefetch_tile(op, loss, first + static_cast<std::int64_t>(gridDim.x) * kMlpTileRows, lane);
    load_x(staged_tile, op, first, rows, lane);
    __syncwarp();
    Fragment h[kBlocks] = {};
    load_fragments<T, kWidth>(h, staged, op.blocks(0));
    __syncwarp();
    if (to.h[0] != nullptr) store(to.h[0], h, op.sizes[0]);
    for (int l = 0; l + 1 < op.layers; ++l) {
      passes.hidden_layer(h, l, rows,
                          [&](const Fragment(&z)[kBlocks]) { store(to.g[l], z, op.sizes[l + 1]); });
      store(to.h[l + 1], h, op.sizes[l + 1]);
    }
    Fragment g[kBlocks] = {};
    passes.start_back(g, h, output, staged, first, rows);
    Fragment z[kBlocks] = {};
    for (int l = op.layers - 1; l >= 0; --l) {
      store(to.g[l], g, op.sizes[l + 1]);
      if (F::kNeedsArgument && l > 0) load_stored(z, to.g[l - 1], op.sizes[l]);
      if (l > 0 || to.dx != nullptr) passes.step_back(g, l, rows, z);
    }
    if (to.dx != nullptr) store(to.dx, g, op.sizes[0]);
  }
  if (loss.losses != nullptr) {
    loss.sum.add_blocks(static_cast<std::int64_t>(blockIdx.x) * kMlpTileRows,
                        static_cast<std::int64_t>(gridDim.x) * kMlpTileRows);
  }
}

// The dynamic shared memory of a block.
template <int kWidth>
std::size_t factors_bytes(const MlpOperands& op) {
  return bytes_of_layers<kWidth>(op) + bytes_of_rows<kWidth>(kMlpTileRows) +
         StoredReluBits<kWidth>::bytes(op.layers);
}

bool has_sizes_of_kernels(const MlpArrays& mlp) {
  if (mlp.x.numel() == 0 || mlp.weights.empty() || mlp.weights.size() > kMostMlpLayers)
    return false;
  if (!is_reduced(mlp.dtype())) return false;
  if (mlp.x.size(1) > kWidestMlp) return false;
  return std::all_of(mlp.weights.begin(), mlp.weights.end(), [](const Array& weight) {
    return weight.size(0) >= 1 && weight.size(0) <= kWidestMlp;
  });
}

// Either dy or `loss` is given.
MlpFactors factors_of(const MlpArrays& mlp, const void* dy, const MlpLossOperands& loss,
                      bool with_dx) {
  const MlpOperands op = mlp_operands(mlp);
  const Launch launch(mlp.x, "mlp");
  const auto rows_of = [&](std::int64_t features) {
    return Array::empty({op.rows, features}, mlp.dtype(), mlp.x.device());
  };
  MlpFactors result;
  FactorOperands to{};
  to.dy = dy;
  for (std::size_t l = 0; l < mlp.weights.size(); ++l) {
    const bool is_given = l == 0 && !op.x_is_float;
    result.h.push_back(is_given ? mlp.x : rows_of(op.sizes[l]));
    result.g.push_back(rows_of(op.sizes[l + 1]));
    to.h[l] = is_given ? nullptr : result.h[l].data();
    to.g[l] = result.g[l].data();
  }
  if (with_dx) {
    result.dx = rows_of(op.sizes[0]);
    to.dx = result.dx.data();
  }
  with_mlp_kernel(
      mlp, [&]<class T, int kWidth, class F>(T, std::integral_constant<int, kWidth>, F) {
        const auto kernel = mlp_factors<T, kWidth, F>;
        const std::size_t bytes = factors_bytes<kWidth>(op);
        const unsigned blocks =
            std::min(resident_mlp_blocks(launch, reinterpret_cast<const void*>(kernel), bytes).all,
                     blocks_for(op.rows, kMlpTileRows));
        kernel<<<blocks, kMlpThreads, bytes, launch.stream()>>>(op, to, loss);
      });
  launch.check();
  return result;
}

}  // namespace

bool mlp_fits_cuda(const MlpArrays& mlp) {
  if (!has_sizes_of_kernels(mlp)) return false;
  bool fits = false;
  with_mlp_kernel(mlp,
                  [&]<class T, int kWidth, class F>(T, std::integral_constant<int, kWidth>, F) {
                    fits = mlp_memory_fits(mlp, factors_bytes<kWidth>(mlp_operands(mlp)));
                  });
  return fits;
}

MlpFactors mlp_factors_on_cuda(const MlpArrays& mlp, const Array& dy, bool with_dx) {
  return factors_of(mlp, dy.data(), {}, with_dx);
}

MlpFactors mlp_loss_factors_on_cuda(const MlpArrays& mlp, const MlpLoss& loss, const Array& dloss,
                                    bool with_dx) {
  return factors_of(mlp, nullptr, MlpLossCall(mlp, loss, dloss).operands, with_dx);
}

}  // namespace halfgrad::detail
