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
// to shared memory by cp.async, three steps ahead: 48 KiB are on their way to each multiprocessor,
// because the L2 cache answers only after some hundred cycles. They keep the layout of global
// memory, and ldmatrix absorbs a transpose.
//
// One operand may be float32, as the batch that a network gets: x in y = x w^T and in dw = dy^T x.
// Its tiles are copied as they are, and each element is rounded to 16 bits on its way to the
// registers. So no kernel of its own reads the batch and writes it in 16 bits. The terms, and the
// order of each sum, are those of an operand that was cast before.

#include <halfgrad/core/cuda/kernels/gemm_small.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <type_traits>

#include <halfgrad/core/array.h>
#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/engines/shared_memory.h>
#include <halfgrad/core/cuda/engines/tickets.h>
#include <halfgrad/core/cuda/kernels/gemm_small_operand.h>
#include <halfgrad/core/cuda/kernels/gemm_small_plan.h>
#include <halfgrad/core/cuda/kernels/gemm_small_result.h>
#include <halfgrad/core/cuda/kernels/gemm_small_sums.h>
#include <halfgrad/core/cuda/kernels/gemm_small_tile.h>

namespace halfgrad::detail {
namespace {

// Tiles in shared memory: one is used, the others are on their way. With four stages, those of a
// float32 operand would take 102 KiB, more than a block may have on some GPUs.
template <class A, class B>
constexpr int stages() {
  return std::is_same_v<A, B> ? 4 : 3;
}

struct Params {
  ProductOperand a, b;
  std::int64_t k, steps_per_part;
  ProductResult result;
  PartialSums parts;  // if there is more than one
};

// The grid has a block for each row of tiles, column of tiles and part.
// A and B are T, or one of them is float.
template <class T, class A, class B, int kTile, bool kAKMajor, bool kBKMajor>
__global__ void __launch_bounds__(kProductThreads, 2)
    small_product(const __grid_constant__ Params p) {
  using ATile = OperandTile<A, kTile, kAKMajor>;
  using BTile = OperandTile<B, kTile, kBKMajor>;
  constexpr int kStages = stages<A, B>();
  extern __shared__ __align__(16) std::byte memory[];
  const auto tiles_of = [&](int step) {
    return memory + step % kStages * (ATile::kBytes + BTile::kBytes);
  };
  const auto a_of = [](std::byte* tiles) { return reinterpret_cast<A*>(tiles); };
  const auto b_of = [](std::byte* tiles) { return reinterpret_cast<B*>(tiles + ATile::kBytes); };

  const std::int64_t first_row = std::int64_t{blockIdx.x} * kTile;
  const std::int64_t first_col = std::int64_t{blockIdx.y} * kTile;
  const std::int64_t first_k = blockIdx.z * p.steps_per_part * ATile::kDepth;
  const std::int64_t steps_left = (p.k - first_k + ATile::kDepth - 1) / ATile::kDepth;
  const int steps = static_cast<int>(min(p.steps_per_part, steps_left));
  TileCopy<A, kTile, kAKMajor> a(p.a, first_row, first_k);
  TileCopy<B, kTile, kBKMajor> b(p.b, first_col, first_k);
  // Ends a group in any case, so that the newest groups are always those of the next steps.
  const auto begin_step = [&](int step) {
    if (step < steps) {
      a.begin_tile(a_of(tiles_of(step)));
      b.begin_tile(b_of(tiles_of(step)));
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
    multiply_step<T, ATile, BTile>(warp_sums, a_of(tiles_of(step)), b_of(tiles_of(step)), at,
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
  int stages;
  std::size_t bytes_of_stage, bytes_of_sums;  // in shared memory, which both use in turn
  int slots;                                  // float4 of a thread in PartialSums

  // The stages of a short sum need less memory, so that more blocks fit on a multiprocessor.
  std::size_t bytes(std::int64_t steps) const {
    const auto used = static_cast<std::size_t>(std::min<std::int64_t>(steps, stages));
    return std::max(used * bytes_of_stage, bytes_of_sums);
  }
  std::size_t most_bytes() const { return bytes(stages); }
};

template <class T, class A, class B, int kTile, bool kAKMajor, bool kBKMajor>
Kernel kernel_of() {
  constexpr std::size_t kStage =
      OperandTile<A, kTile, kAKMajor>::kBytes + OperandTile<B, kTile, kBKMajor>::kBytes;
  return {small_product<T, A, B, kTile, kAKMajor, kBKMajor>, stages<A, B>(), kStage,
          SharedSums<kTile>::kBytes, TileSums<kTile>::kSlots};
}

// A product as the choice of its kernel sees it.
struct Operands {
  ProductOperand a, b;
  DType a_dtype, b_dtype;

  // As it was or will be rounded.
  DType dtype() const { return is_reduced(a_dtype) ? a_dtype : b_dtype; }
  bool wide_a() const { return a_dtype != dtype(); }
  bool wide_b() const { return b_dtype != dtype(); }
  bool both_k_major() const { return a.k_major && b.k_major; }
};

// A float32 operand has kernels for y = x w^T and dw = dy^T x, with x, w and dy by rows.
template <class T, int kTile>
std::optional<Kernel> kernel_for(const Operands& of) {
  if (of.wide_a()) {
    if (!of.both_k_major()) return std::nullopt;
    return kernel_of<T, float, T, kTile, true, true>();
  }
  if (of.wide_b()) {
    if (of.a.k_major || of.b.k_major) return std::nullopt;
    return kernel_of<T, T, float, kTile, false, false>();
  }
  if (of.a.k_major) {
    return of.b.k_major ? kernel_of<T, T, T, kTile, true, true>()
                        : kernel_of<T, T, T, kTile, true, false>();
  }
  return of.b.k_major ? kernel_of<T, T, T, kTile, false, true>()
                      : kernel_of<T, T, T, kTile, false, false>();
}
template <class T>
std::optional<Kernel> kernel_for(int tile, const Operands& of) {
  return tile == 64 ? kernel_for<T, 64>(of) : kernel_for<T, 32>(of);
}

// A forward product, y = x w^T, has operands with contiguous terms, k-major ones. On an H100
// cuBLASLt takes 0.7 of our time for it, unless C is narrow. For the gradients of x and w we save a
// launch: the mask of relu, and the sums of rows. The choice must not depend on the epilogue, so
// that a product has the same bits with it and without.
bool is_chosen(const GemmCall& call, const Operands& of) {
  if (gemm_backend() == GemmBackend::small_product) return true;
  const MutableMatrixView& c = call.c;
  return gemm_backend() == GemmBackend::automatic &&
         is_small_product(c.rows, c.cols, call.a.cols) &&
         (!of.both_k_major() || is_narrow_product(c.rows, c.cols) || call.rounds_operand);
}

// Whether both have the same 16 bits, or one of them is float32 and is rounded to those of the
// other.
bool takes(DType a, DType b) {
  if (is_reduced(a)) return b == a || b == DType::f32;
  return a == DType::f32 && is_reduced(b);
}

bool takes(const GemmCall& call) {
  if (!takes(call.a.dtype, call.b.dtype)) return false;
  const Epilogue& e = call.epilogue;
  const DType narrow = is_reduced(call.a.dtype) ? call.a.dtype : call.b.dtype;
  const bool takes_bias =
      e.bias.data == nullptr || e.bias.dtype == narrow || e.bias.dtype == DType::f32;
  // The limits of a grid are 2^31 - 1 blocks by 65,535.
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max(), kMostAcross = 65'535;
  return call.count == 1 && call.alpha == 1 && call.beta == 0 && call.a.cols > 0 && takes_bias &&
         e.aux == nullptr && e.activation != Activation::gelu_tanh &&
         call.c.rows <= kMost / call.c.cols && call.c.cols <= kMostAcross * 32;
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
  if (!a || !b) return false;
  const Operands operands{*a, *b, call.a.dtype, call.b.dtype};
  if (!is_chosen(call, operands)) return false;
  const MutableMatrixView& c = call.c;
  const SmallProductPlan plan = plan_small_product(c.rows, c.cols, call.a.cols);
  const std::optional<Kernel> kernel = operands.dtype() == DType::f16
                                           ? kernel_for<__half>(plan.tile, operands)
                                           : kernel_for<__nv_bfloat16>(plan.tile, operands);
  if (!kernel) return false;
  Params params{.a = *a,
                .b = *b,
                .k = call.a.cols,
                .steps_per_part = plan.steps_per_part,
                .result = result_of(call),
                .parts = {}};
  const Launch launch(c.device, "gemm", {c.rows, c.cols});
  Array sums_of_parts;  // freed to this stream, which uses its block again after the kernel
  if (plan.parts > 1) {
    sums_of_parts = Array::empty({plan.parts, plan.tiles(), kernel->slots, kProductThreads, 4},
                                 DType::f32, c.device);
    params.parts.data = reinterpret_cast<float4*>(sums_of_parts.data_as<float>());
    params.parts.tickets = tickets_for(current_stream(c.device));
  }
  allow_shared_memory(launch, reinterpret_cast<const void*>(kernel->function),
                      kernel->most_bytes());
  const dim3 grid(static_cast<unsigned>(plan.tiles_down), static_cast<unsigned>(plan.tiles_across),
                  static_cast<unsigned>(plan.parts));
  kernel->function<<<grid, kProductThreads, kernel->bytes(plan.steps_per_part), launch.stream()>>>(
      params);
  launch.check();
  return true;
}

}  // namespace halfgrad::detail
