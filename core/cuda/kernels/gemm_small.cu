// The product of 16-bit matrices with a small C. Tiles of 128 x 128, as large products need, would
// leave most of the GPU idle: the gradient of a weight of 64 x 64 is a quarter of such a tile,
// however large the batch is. Here a block computes a tile of 32 x 32 or 64 x 64. If there are few
// tiles, several blocks share the sum over k of each (split-K):
//
//              k                      sums in f32
//       +---------+---------+
//     m |  part 0 |  part 1 |  A        block (tile, 0) --+
//       +---------+---------+                             +--> last block: part 0 + part 1 --> C
//     n |  part 0 |  part 1 |  B        block (tile, 1) --+
//       +---------+---------+
//
// Each block writes its sums. The last one to finish adds them in the order of the parts, so the
// result has the same bits every time (gemm_small_sums.h).
//
// Eight warps compute 32 x 32 sums each, by mma.sync (gemm_small_tile.h). Those with the same sums
// share the terms of each step, and the block adds theirs in the end. Tiles of A and B are copied
// to shared memory by cp.async, three steps ahead: 48 KiB on their way to each multiprocessor,
// about what it takes to load at full speed from an L2 cache that is 700 cycles away. They keep the
// layout of global memory, and ldmatrix absorbs a transpose.

#include <halfgrad/core/cuda/kernels/gemm_small.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>

#include <halfgrad/core/array.h>
#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/engines/shared_memory.h>
#include <halfgrad/core/cuda/engines/tickets.h>
#include <halfgrad/core/cuda/kernels/gemm_small_plan.h>
#include <halfgrad/core/cuda/kernels/gemm_small_result.h>
#include <halfgrad/core/cuda/kernels/gemm_small_sums.h>
#include <halfgrad/core/cuda/kernels/gemm_small_tile.h>

namespace halfgrad::detail {
namespace {

constexpr int kStages = 4;  // tiles in shared memory: one is used, three are on their way

struct Params {
  ProductOperand a, b;
  std::int64_t k, steps_per_part;
  ProductResult result;
  PartialSums parts;  // if there is more than one
};

// The grid has a block for each row of tiles, column of tiles and part.
template <class T, int kTile, bool kAKMajor, bool kBKMajor>
__global__ void __launch_bounds__(kProductThreads, 2)
    small_product(const __grid_constant__ Params p) {
  using ATile = OperandTile<kTile, kAKMajor>;
  using BTile = OperandTile<kTile, kBKMajor>;
  constexpr int kStage = ATile::kElements + BTile::kElements;
  extern __shared__ __align__(16) std::byte memory[];
  T* const tiles = reinterpret_cast<T*>(memory);

  const std::int64_t first_row = std::int64_t{blockIdx.x} * kTile;
  const std::int64_t first_col = std::int64_t{blockIdx.y} * kTile;
  const std::int64_t first_k = blockIdx.z * p.steps_per_part * ATile::kDepth;
  const std::int64_t steps_left = (p.k - first_k + ATile::kDepth - 1) / ATile::kDepth;
  const int steps = static_cast<int>(min(p.steps_per_part, steps_left));
  TileCopy<T, kTile, kAKMajor> a(p.a, first_row, first_k);
  TileCopy<T, kTile, kBKMajor> b(p.b, first_col, first_k);
  // Ends a group in any case, so that the newest groups are always those of the next steps.
  const auto begin_step = [&](int step) {
    if (step < steps) {
      T* const stage = tiles + step % kStages * kStage;
      a.begin_tile(stage);
      b.begin_tile(stage + ATile::kElements);
    }
    end_group();
  };
#pragma unroll 1
  for (int step = 0; step < kStages - 1; ++step) begin_step(step);

  const WarpPlace<kTile> at;
  const float4 bias = load_bias<T>(p.result, first_col + TileSums<kTile>::col());
  const bool with_row_sums = p.result.row_sums != nullptr && first_col == 0;
  WarpSums warp_sums;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    wait_for_groups<kStages - 2>();
    __syncthreads();  // this step's tiles are there, and those of the step before are not needed
    begin_step(step + kStages - 1);
    const T* const stage = tiles + step % kStages * kStage;
    multiply_step<T, kTile, kAKMajor, kBKMajor>(warp_sums, stage, stage + ATile::kElements, at,
                                                with_row_sums && at.col == 0);
  }
  __syncthreads();  // the tiles are not needed

  const SharedSums<kTile> shared(memory);
  shared.store(warp_sums, at);
  __syncthreads();
  TileSums<kTile> sums = shared.added();
  if (gridDim.z > 1 && !add_parts(p.parts, sums, with_row_sums)) return;
#pragma unroll
  for (int v = 0; v < sums.kVectors; ++v) {
    const std::int64_t row = first_row + sums.row(v), col = first_col + sums.col();
    store_result<T>(p.result, row, col, sums.vector[v], bias);
  }
  const std::int64_t row_of_a = first_row + threadIdx.x;
  if (with_row_sums && sums.has_row_of_a() && row_of_a < p.result.rows) {
    store_element<T>(p.result.row_sums, p.result.wide, row_of_a, sums.row_of_a);
  }
}

// A kernel and what its launch needs.
struct Kernel {
  void (*function)(Params);
  std::size_t bytes_of_stage, bytes_of_sums;  // in shared memory, which both use in turn
  int slots;                                  // float4 of a thread in PartialSums

  // The stages of a short sum need less memory, so that more blocks fit on a multiprocessor.
  std::size_t bytes(std::int64_t steps) const {
    const auto stages = static_cast<std::size_t>(std::min<std::int64_t>(steps, kStages));
    return std::max(stages * bytes_of_stage, bytes_of_sums);
  }
};

template <class T, int kTile, bool kAKMajor, bool kBKMajor>
Kernel kernel_of() {
  constexpr int kStage =
      OperandTile<kTile, kAKMajor>::kElements + OperandTile<kTile, kBKMajor>::kElements;
  return {small_product<T, kTile, kAKMajor, kBKMajor>, kStage * sizeof(T),
          SharedSums<kTile>::kBytes, TileSums<kTile>::kSlots};
}

template <class T, int kTile>
Kernel kernel_for(bool a_k_major, bool b_k_major) {
  if (a_k_major) {
    return b_k_major ? kernel_of<T, kTile, true, true>() : kernel_of<T, kTile, true, false>();
  }
  return b_k_major ? kernel_of<T, kTile, false, true>() : kernel_of<T, kTile, false, false>();
}
template <class T>
Kernel kernel_for(int tile, bool a_k_major, bool b_k_major) {
  return tile == 64 ? kernel_for<T, 64>(a_k_major, b_k_major)
                    : kernel_for<T, 32>(a_k_major, b_k_major);
}

// The widest of 16 and 4 bytes, or else 2, to which every row is aligned.
int copy_bytes(const ProductOperand& rows) {
  const auto address = reinterpret_cast<std::uintptr_t>(rows.data);
  const std::int64_t stride = rows.rows == 1 ? 0 : rows.stride * 2;
  for (const int bytes : {16, 4}) {
    if (address % static_cast<std::uintptr_t>(bytes) == 0 && stride % bytes == 0) return bytes;
  }
  return 2;
}

// Returns the view as rows of contiguous elements, or nothing if neither stride is 1. k runs along
// the view's columns if `k_is_column`. The stride of a dimension of size 1 is not used.
std::optional<ProductOperand> as_operand(const MatrixView& m, bool k_is_column) {
  const bool by_rows = m.col_stride == 1 || m.cols == 1;
  const bool by_columns = m.row_stride == 1 || m.rows == 1;
  if (!by_rows && !by_columns) return std::nullopt;
  const bool rows = by_rows && (!by_columns || m.cols >= m.rows);
  ProductOperand stored =
      rows ? ProductOperand{m.data, m.rows, m.cols, m.row_stride, k_is_column, 2}
           : ProductOperand{m.data, m.cols, m.rows, m.col_stride, !k_is_column, 2};
  stored.copy_bytes = copy_bytes(stored);
  return stored;
}

// A forward product, y = x w^T, has operands with contiguous terms, k-major ones. On an H100
// cuBLASLt takes 0.7 of our time for it, unless C is narrow. For the gradients of x and w we save a
// launch: the mask of relu, and the sums of rows. The choice must not depend on the epilogue, so
// that a product has the same bits with it and without.
bool is_chosen(const GemmCall& call, bool both_k_major) {
  if (gemm_backend() == GemmBackend::small_product) return true;
  const MutableMatrixView& c = call.c;
  return gemm_backend() == GemmBackend::automatic &&
         is_small_product(c.rows, c.cols, call.a.cols) &&
         (!both_k_major || is_narrow_product(c.rows, c.cols));
}

bool takes(const GemmCall& call) {
  const Epilogue& e = call.epilogue;
  const bool takes_bias =
      e.bias.data == nullptr || e.bias.dtype == call.a.dtype || e.bias.dtype == DType::f32;
  // The limits of a grid are 2^31 - 1 blocks by 65,535.
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max(), kMostAcross = 65'535;
  return is_reduced(call.a.dtype) && call.count == 1 && call.alpha == 1 && call.beta == 0 &&
         call.a.cols > 0 && takes_bias && e.aux == nullptr &&
         e.activation != Activation::gelu_tanh && call.c.rows <= kMost / call.c.cols &&
         call.c.cols <= kMostAcross * 32;
}

// Whether four columns, the first a multiple of four, are one aligned access of C and relu_output.
bool in_fours(const MutableMatrixView& c, const void* relu_output) {
  const auto four = static_cast<std::uintptr_t>(4 * item_size(c.dtype));
  const auto is_aligned = [&](const void* data) {
    return reinterpret_cast<std::uintptr_t>(data) % four == 0;  // so is null
  };
  return c.col_stride == 1 && (c.row_stride % 4 == 0 || c.rows == 1) && is_aligned(c.data) &&
         is_aligned(relu_output);
}

ProductResult result_of(const GemmCall& call) {
  const MutableMatrixView& c = call.c;
  const Epilogue& e = call.epilogue;
  return {.c = c.data,
          .rows = c.rows,
          .cols = c.cols,
          .row_stride = c.row_stride,
          .col_stride = c.col_stride,
          .wide = c.dtype == DType::f32,
          .in_fours = in_fours(c, e.relu_output),
          .bias = e.bias.data,
          .wide_bias = e.bias.dtype == DType::f32,
          .relu = e.activation == Activation::relu,
          .relu_output = e.relu_output,
          .row_sums = e.row_sums_of_a};
}

}  // namespace

bool multiply_small(const GemmCall& call) {
  if (!takes(call)) return false;
  const auto a = as_operand(call.a, true), b = as_operand(call.b, false);
  if (!a || !b || !is_chosen(call, a->k_major && b->k_major)) return false;
  const MutableMatrixView& c = call.c;
  const SmallProductPlan plan = plan_small_product(c.rows, c.cols, call.a.cols);
  const Kernel kernel = call.a.dtype == DType::f16
                            ? kernel_for<__half>(plan.tile, a->k_major, b->k_major)
                            : kernel_for<__nv_bfloat16>(plan.tile, a->k_major, b->k_major);
  Params params{.a = *a,
                .b = *b,
                .k = call.a.cols,
                .steps_per_part = plan.steps_per_part,
                .result = result_of(call),
                .parts = {}};
  const Launch launch(c.device, "gemm", {c.rows, c.cols});
  Array sums_of_parts;  // freed to this stream, which uses its block again after the kernel
  if (plan.parts > 1) {
    sums_of_parts = Array::empty({plan.parts, plan.tiles(), kernel.slots, kProductThreads, 4},
                                 DType::f32, c.device);
    params.parts.data = reinterpret_cast<float4*>(sums_of_parts.data_as<float>());
    params.parts.tickets = tickets_for(current_stream(c.device));
  }
  allow_shared_memory(launch, reinterpret_cast<const void*>(kernel.function),
                      kernel.bytes(kStages));
  const dim3 grid(static_cast<unsigned>(plan.tiles_down), static_cast<unsigned>(plan.tiles_across),
                  static_cast<unsigned>(plan.parts));
  kernel.function<<<grid, kProductThreads, kernel.bytes(plan.steps_per_part), launch.stream()>>>(
      params);
  launch.check();
  return true;
}

}  // namespace halfgrad::detail
