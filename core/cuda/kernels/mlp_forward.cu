// The forward pass of a narrow MLP in one kernel. A warp takes 16 rows through all layers:
//
//     x, 16 rows      h_1               h_2                    y
//    +----------+    +----------+     +----------+     +----------+
//    | fragments| -> | fragments| --> | fragments| --> |  staged  | -> memory
//    +----------+    +----------+     +----------+     +----------+
//         |  W_0, shared    |  W_1, shared    |  W_2, shared
//
// The sums of one layer lie in the registers as the next layer's operand does (mlp_fragments.h), so
// no warp waits for another. The weights are in shared memory, loaded once for all rows of a block.
//
// A row moves 2 (n_0 + n_L) bytes, 148 for 64-64-64-64-64-10, where layers one by one move 2,476
// with relu in their epilogues. By the data sheet of an H100, 2^18 rows need 12 us for their memory
// traffic (39 MB) and 9 us for their products; not measured.

#include <algorithm>

#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/engines/shared_memory.h>
#include <halfgrad/core/cuda/kernels/loss_sum.h>
#include <halfgrad/core/cuda/kernels/mlp_tile.h>

namespace halfgrad::detail {
namespace {

template <class T, int kWidth, class F>
__global__ void __launch_bounds__(kMlpThreads)
    mlp_forward(const __grid_constant__ MlpOperands op, T* y) {
  constexpr int kStride = kWidth + kPad, kBlocks = kWidth / kBlock;
  extern __shared__ __align__(16) std::byte memory[];
  const SharedLayers<T, kWidth> layers(memory, op);
  layers.load(op);
  __syncthreads();

  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  T* const staged = layers.end(op) + warp * kBlock * kStride;
  const PaddedTile<T, kWidth> staged_tile{staged};
  const int out = op.sizes[op.layers];
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kMlpTileRows;
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kMlpTileRows + warp * kBlock;
       first < op.rows; first += step) {
    const int rows = static_cast<int>(min(op.rows - first, static_cast<std::int64_t>(kBlock)));
    load_x(staged_tile, op, first, rows, lane);
    __syncwarp();
    Fragment h[kBlocks] = {};
    load_fragments<T, kWidth>(h, staged, op.blocks(0));
    __syncwarp();
    compute_layers<F>(h, op, layers);
    store_fragments<T, kWidth>(staged, h, op.blocks(op.layers));
    __syncwarp();
    store_rows(y + first * out, staged_tile, rows, out, lane);
    __syncwarp();
  }
}

}  // namespace

int mlp_width(const MlpArrays& mlp) {
  std::int64_t widest = mlp.x.size(1);
  for (const Array& weight : mlp.weights) widest = std::max(widest, weight.size(0));
  return widest <= 32 ? 32 : widest <= 64 ? 64 : kWidestMlp;
}

MlpOperands mlp_operands(const MlpArrays& mlp) {
  MlpOperands op{};
  op.x = mlp.x.data();
  op.x_is_float = mlp.x.dtype() == DType::f32;
  op.activation = mlp.activation;
  op.rows = mlp.x.size(0);
  op.layers = static_cast<int>(mlp.weights.size());
  const int stride = mlp_width(mlp) + kPad;
  op.sizes[0] = static_cast<int>(mlp.x.size(1));
  op.offsets[0] = 0;
  for (std::size_t l = 0; l < mlp.weights.size(); ++l) {
    const int out = static_cast<int>(mlp.weights[l].size(0));
    op.weights[l] = mlp.weights[l].data();
    op.biases[l] = mlp.biases[l].defined() ? mlp.biases[l].data() : nullptr;
    op.sizes[l + 1] = out;
    op.offsets[l + 1] = op.offsets[l] + (out + kBlock - 1) / kBlock * kBlock * stride;
  }
  return op;
}

int device_attribute(const Launch& launch, cudaDeviceAttr which) {
  int device = 0, value = 0;
  launch.check(cudaGetDevice(&device), "cudaGetDevice");
  launch.check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

ResidentBlocks resident_mlp_blocks(const Launch& launch, const void* kernel, std::size_t bytes) {
  allow_shared_memory(launch, kernel, bytes);
  const int processors = device_attribute(launch, cudaDevAttrMultiProcessorCount);
  int each = 0;
  launch.check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, kMlpThreads, bytes),
               "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return {static_cast<unsigned>(processors), static_cast<unsigned>(processors * each)};
}

bool mlp_memory_fits(const MlpArrays& mlp, std::size_t bytes) {
  constexpr std::size_t kSumOfLosses = kGroupBytes + kLargestCombined + kSumThreads;
  const Launch launch(mlp.x, "mlp");
  const int available = device_attribute(launch, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  return bytes + kSumOfLosses <= static_cast<std::size_t>(available);
}

void mlp_on_cuda(const MlpArrays& mlp, const Array& y) {
  const MlpOperands op = mlp_operands(mlp);
  const Launch launch(y, "mlp");
  with_mlp_kernel(
      mlp, [&]<class T, int kWidth, class F>(T, std::integral_constant<int, kWidth>, F) {
        const auto kernel = mlp_forward<T, kWidth, F>;
        const std::size_t bytes = bytes_of_layers<kWidth>(op) + bytes_of_rows<kWidth>(kMlpTileRows);
        const unsigned blocks =
            std::min(resident_mlp_blocks(launch, reinterpret_cast<const void*>(kernel), bytes).all,
                     blocks_for(op.rows, kMlpTileRows));
        kernel<<<blocks, kMlpThreads, bytes, launch.stream()>>>(op, reinterpret_cast<T*>(y.data()));
      });
  launch.check();
}

}  // namespace halfgrad::detail
