// The forward pass of a narrow MLP and its cross entropy in one kernel: mlp_forward.cu, but the
// logits stay on the chip.
//
//     x, 16 rows      h_1         logits, 16 rows    a loss for each row      the mean of all rows
//    +----------+    +-----+      +---------+        +---+                    +---+
//    | fragments| -> | ... | ---> |  staged | -----> |   | -> memory -------> |   | -> memory
//    +----------+    +-----+      +---------+        +---+    in the last block (loss_sum.h)
//
// A row moves 2 n_0 bytes, or 4 n_0 in float32, 8 for its target, and 8 for its loss, which the
// last block reads again.

#include <algorithm>

#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/kernels/mlp_loss.h>

namespace halfgrad::detail {
namespace {

template <class T, int kWidth, class F>
__global__ void __launch_bounds__(kMlpThreads, kWidth <= 64 ? 2 : 1)
    mlp_loss(const __grid_constant__ MlpOperands op, const __grid_constant__ MlpLossOperands loss) {
  constexpr int kStride = kWidth + kPad, kBlocks = kWidth / kBlock;
  extern __shared__ __align__(16) std::byte memory[];
  const SharedLayers<T, kWidth> layers(memory, op);
  layers.load(op);
  __syncthreads();

  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  T* const staged = layers.end(op) + warp * kBlock * kStride;
  for (std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * kMlpTileRows; tile < op.rows;
       tile += static_cast<std::int64_t>(gridDim.x) * kMlpTileRows) {
    const std::int64_t first = tile + warp * kBlock;
    const int rows = rows_of_warp(op, first);
    prefetch_tile(op, loss, first + static_cast<std::int64_t>(gridDim.x) * kMlpTileRows, lane);
    load_x(PaddedTile<T, kWidth>{staged}, op, first, rows, lane);
    __syncwarp();
    Fragment h[kBlocks] = {};
    load_fragments<T, kWidth>(h, staged, op.blocks(0));
    __syncwarp();
    compute_layers<F>(h, op, layers);
    store_fragments<T, kWidth>(staged, h, op.blocks(op.layers));
    __syncwarp();
    loss_of_rows<T, kWidth>(loss, loss.losses, staged, op.sizes[op.layers], first, rows);
    __syncwarp();  // before the next x is staged
  }
  loss.sum.add_blocks(static_cast<std::int64_t>(blockIdx.x) * kMlpTileRows,
                      static_cast<std::int64_t>(gridDim.x) * kMlpTileRows);
}

}  // namespace

MlpLossCall::MlpLossCall(const MlpArrays& mlp, const MlpLoss& loss, const Array& dloss) {
  const Device device = mlp.x.device();
  operands.targets = loss.targets.data_as<std::int64_t>();
  operands.check = {"mlp_cross_entropy", mlp.weights.back().size(0), index_report_of(device)};
  if (dloss.defined()) {
    operands.dloss = dloss.data();
    operands.dloss_dtype = dloss.dtype();
  }
  if (!loss.loss.defined()) return;
  losses_ = Array::empty({mlp.x.size(0)}, DType::f32, device);
  parts_ = LossSum::parts_for(losses_);
  operands.losses = losses_.data_as<float>();
  operands.sum = LossSum(losses_, parts_, true, loss.loss, loss.kept, kMlpTileRows);
}

bool mlp_loss_fits_cuda(const MlpArrays& mlp) {
  return mlp_fits_cuda(mlp) && mlp.x.size(0) <= kMostSummedRows;
}

void mlp_loss_on_cuda(const MlpArrays& mlp, const MlpLoss& loss) {
  const MlpOperands op = mlp_operands(mlp);
  const Launch launch(mlp.x, "mlp_cross_entropy");
  const MlpLossCall call(mlp, loss);
  with_mlp_kernel(
      mlp, [&]<class T, int kWidth, class F>(T, std::integral_constant<int, kWidth>, F) {
        const auto kernel = mlp_loss<T, kWidth, F>;
        const std::size_t bytes = bytes_of_layers<kWidth>(op) + bytes_of_rows<kWidth>(kMlpTileRows);
        const unsigned blocks =
            std::min(resident_mlp_blocks(launch, reinterpret_cast<const void*>(kernel), bytes).all,
                     blocks_for(op.rows, kMlpTileRows));
        kernel<<<blocks, kMlpThreads, bytes, launch.stream()>>>(op, call.operands);
      });
  launch.check();
}

}  // namespace halfgrad::detail
