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
// result has the same bits every time.
//
// Four warps compute a quarter of a tile each, by mma.sync (gemm_small_tile.h). Tiles of A and B
// are copied to shared memory by cp.async, three steps ahead. They keep the layout of global
// memory, and ldmatrix absorbs a transpose.

#include <halfgrad/core/cuda/kernels/gemm_small.h>

#include <limits>
#include <optional>

#include <halfgrad/core/array.h>
#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/engines/tickets.h>
#include <halfgrad/core/cuda/kernels/gemm_small_plan.h>
#include <halfgrad/core/cuda/kernels/gemm_small_tile.h>
#include <halfgrad/core/math/math.h>

namespace halfgrad::detail {
namespace {

constexpr int kStages = 4;  // tiles in shared memory: one is used, three are on their way

struct Params {
  ProductOperand a, b;
  std::int64_t m, n, k;
  void* c;
  std::int64_t c_row, c_col;  // strides
  bool wide;                  // C has f32 elements
  bool in_pairs;              // two columns of C are one aligned store
  const void* bias;           // or null
  bool wide_bias;
  bool relu;
  const void* relu_output;  // or null
  void* row_sums;           // or null
  std::int64_t steps_per_part, tiles_across;
  float4* sums_of_parts = nullptr;  // [parts, tiles, ProductSums::kVectors, kProductThreads]
  unsigned* tickets = nullptr;      // one for each tile
};

// Writes this block's sums. Returns whether it is the last block of its tile; then `sums` become
// those of all parts, added in their order.
template <int kTile>
__device__ bool add_parts(const Params& p, ProductSums<kTile>& sums) {
  const auto thread = static_cast<std::int64_t>(threadIdx.x);
  const auto place = [&](unsigned part, int vector) {
    const std::int64_t tile = static_cast<std::int64_t>(part) * gridDim.x + blockIdx.x;
    return p.sums_of_parts + (tile * sums.kVectors + vector) * kProductThreads + thread;
  };
#pragma unroll
  for (int v = 0; v < sums.kVectors; ++v) {
    const float(&sum)[4] = sums.vector[v];
    *place(blockIdx.y, v) = make_float4(sum[0], sum[1], sum[2], sum[3]);
    sums.vector[v][0] = sums.vector[v][1] = sums.vector[v][2] = sums.vector[v][3] = 0;
  }
  if (!is_last_block(p.tickets + blockIdx.x, gridDim.y)) return false;
#pragma unroll 2
  for (unsigned part = 0; part < gridDim.y; ++part) {
#pragma unroll
    for (int v = 0; v < sums.kVectors; ++v) {
      const float4 sum = __ldcg(place(part, v));
      sums.vector[v][0] += sum.x;
      sums.vector[v][1] += sum.y;
      sums.vector[v][2] += sum.z;
      sums.vector[v][3] += sum.w;
    }
  }
  return true;
}

// Element `at` of memory that holds f32 if `wide`, else T.
template <class T>
__device__ float load_element(const void* data, bool wide, std::int64_t at) {
  return wide ? static_cast<const float*>(data)[at]
              : static_cast<float>(static_cast<const T*>(data)[at]);
}
template <class T>
__device__ void store_element(void* data, bool wide, std::int64_t at, float value) {
  if (wide) {
    static_cast<float*>(data)[at] = value;
  } else {
    static_cast<T*>(data)[at] = static_cast<T>(value);
  }
}

// The epilogue of one element inside C. relu before rounding gives the bits of relu after it.
template <class T>
__device__ float epilogue(const Params& p, std::int64_t row, std::int64_t col, float sum) {
  if (p.bias != nullptr) sum += load_element<T>(p.bias, p.wide_bias, col);
  if (p.relu) sum = math::maximum(sum, 0.0F);
  if (p.relu_output == nullptr) return sum;
  const float y = load_element<T>(p.relu_output, p.wide, row * p.c_row + col * p.c_col);
  return y <= 0 ? 0 : sum;
}

// Rounds and stores two neighbours in a row of C, as far as they are inside.
template <class T>
__device__ void store_pair(const Params& p, std::int64_t row, std::int64_t col, float low,
                           float high) {
  if (row >= p.m || col >= p.n) return;
  const std::int64_t at = row * p.c_row + col * p.c_col;
  low = epilogue<T>(p, row, col, low);
  if (col + 1 == p.n) return store_element<T>(p.c, p.wide, at, low);
  high = epilogue<T>(p, row, col + 1, high);
  if (!p.in_pairs) {
    store_element<T>(p.c, p.wide, at, low);
    store_element<T>(p.c, p.wide, at + p.c_col, high);
  } else if (p.wide) {
    *reinterpret_cast<float2*>(static_cast<float*>(p.c) + at) = make_float2(low, high);
  } else {
    *reinterpret_cast<std::uint32_t*>(static_cast<T*>(p.c) + at) = PairOf<T>::narrow(low, high);
  }
}

template <class T, int kTile>
__device__ void store_sums(const Params& p, ProductSums<kTile>& sums, std::int64_t first_row,
                           std::int64_t first_col, const WarpPlace<kTile>& at, bool with_row_sums) {
#pragma unroll
  for (int i = 0; i < sums.kDown; ++i) {
#pragma unroll
    for (int down = 0; down < 2; ++down) {
      const std::int64_t row = first_row + at.row + i * kBlock + down * 8 + at.lane / 4;
#pragma unroll
      for (int column = 0; column < sums.kAcross * 2; ++column) {
        const std::int64_t col = first_col + at.col + column * 8 + at.lane % 4 * 2;
        const float(&sum)[4] = sums.product(i, column / 2, column % 2);
        store_pair<T>(p, row, col, sum[down * 2], sum[down * 2 + 1]);
      }
      if (with_row_sums && row < p.m && at.lane % 4 == 0) {
        store_element<T>(p.row_sums, p.wide, row, sums.rows(i)[down * 2]);
      }
    }
  }
}

template <class T, int kTile, bool kAKMajor, bool kBKMajor>
__global__ void __launch_bounds__(kProductThreads) small_product(const Params p) {
  using ATile = OperandTile<kTile, kAKMajor>;
  using BTile = OperandTile<kTile, kBKMajor>;
  constexpr int kStage = ATile::kElements + BTile::kElements;
  __shared__ __align__(16) T tiles[kStages * kStage];

  const std::int64_t tile = blockIdx.x;
  const std::int64_t first_row = tile / p.tiles_across * kTile;
  const std::int64_t first_col = tile % p.tiles_across * kTile;
  const std::int64_t all_steps = (p.k + ATile::kDepth - 1) / ATile::kDepth;
  const std::int64_t first_step = blockIdx.y * p.steps_per_part;
  const std::int64_t steps = min(p.steps_per_part, all_steps - first_step);
  const WarpPlace<kTile> at;
  const bool with_row_sums = p.row_sums != nullptr && first_col == 0 && at.col == 0;

  // Ends a group in any case, so that the newest groups are always those of the next steps.
  const auto begin_step = [&](std::int64_t step) {
    if (step < steps) {
      T* const stage = tiles + step % kStages * kStage;
      const std::int64_t k = (first_step + step) * ATile::kDepth;
      load_tile<ATile>(stage, p.a, first_row, k);
      load_tile<BTile>(stage + ATile::kElements, p.b, first_col, k);
    }
    end_group();
  };
  ProductSums<kTile> sums;
  for (int step = 0; step < kStages - 1; ++step) begin_step(step);
  for (std::int64_t step = 0; step < steps; ++step) {
    wait_for_groups<kStages - 2>();
    __syncthreads();  // this step's tiles are there, and those of the step before are not needed
    begin_step(step + kStages - 1);
    const T* const stage = tiles + step % kStages * kStage;
    multiply_step<T, kTile, kAKMajor, kBKMajor>(sums, stage, stage + ATile::kElements, at,
                                                with_row_sums);
  }
  if (gridDim.y > 1 && !add_parts(p, sums)) return;
  store_sums<T>(p, sums, first_row, first_col, at, with_row_sums);
}

using Kernel = void (*)(Params);

template <class T, int kTile>
Kernel kernel_for(bool a_k_major, bool b_k_major) {
  if (a_k_major) {
    return b_k_major ? small_product<T, kTile, true, true> : small_product<T, kTile, true, false>;
  }
  return b_k_major ? small_product<T, kTile, false, true> : small_product<T, kTile, false, false>;
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

bool is_chosen(const GemmCall& call) {
  if (gemm_backend() == GemmBackend::small_product) return true;
  return gemm_backend() == GemmBackend::automatic &&
         is_small_product(call.c.rows, call.c.cols, call.a.cols);
}

bool takes(const GemmCall& call) {
  const Epilogue& e = call.epilogue;
  const bool takes_bias =
      e.bias.data == nullptr || e.bias.dtype == call.a.dtype || e.bias.dtype == DType::f32;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return is_reduced(call.a.dtype) && call.count == 1 && call.alpha == 1 && call.beta == 0 &&
         call.a.cols > 0 && takes_bias && e.activation != Activation::gelu_tanh &&
         call.c.rows <= kMost / call.c.cols;  // so that the grid has enough blocks
}

bool in_pairs(const MutableMatrixView& c) {
  const auto pair = static_cast<std::uintptr_t>(2 * item_size(c.dtype));
  return c.col_stride == 1 && (c.row_stride % 2 == 0 || c.rows == 1) &&
         reinterpret_cast<std::uintptr_t>(c.data) % pair == 0;
}

}  // namespace

bool multiply_small(const GemmCall& call) {
  if (!is_chosen(call) || !takes(call)) return false;
  const auto a = as_operand(call.a, true), b = as_operand(call.b, false);
  if (!a || !b) return false;
  const MutableMatrixView& c = call.c;
  const Epilogue& e = call.epilogue;
  const std::int64_t m = c.rows, n = c.cols, k = call.a.cols;
  const SmallProductPlan plan = plan_small_product(m, n, k);
  Params params{.a = *a,
                .b = *b,
                .m = m,
                .n = n,
                .k = k,
                .c = c.data,
                .c_row = c.row_stride,
                .c_col = c.col_stride,
                .wide = c.dtype == DType::f32,
                .in_pairs = in_pairs(c),
                .bias = e.bias.data,
                .wide_bias = e.bias.dtype == DType::f32,
                .relu = e.activation == Activation::relu,
                .relu_output = e.relu_output,
                .row_sums = e.row_sums_of_a,
                .steps_per_part = plan.steps_per_part,
                .tiles_across = plan.tiles_across};
  const Launch launch(c.device, "gemm", {m, n});
  Array sums_of_parts;  // freed to this stream, which uses its block again after the kernel
  if (plan.parts > 1) {
    const int vectors = plan.tile == 64 ? ProductSums<64>::kVectors : ProductSums<32>::kVectors;
    sums_of_parts =
        Array::empty({plan.parts, plan.tiles(), vectors, kProductThreads, 4}, DType::f32, c.device);
    params.sums_of_parts = reinterpret_cast<float4*>(sums_of_parts.data_as<float>());
    params.tickets = tickets_for(current_stream(c.device));
  }
  const Kernel kernel = call.a.dtype == DType::f16
                            ? kernel_for<__half>(plan.tile, a->k_major, b->k_major)
                            : kernel_for<__nv_bfloat16>(plan.tile, a->k_major, b->k_major);
  const dim3 grid(static_cast<unsigned>(plan.tiles()), static_cast<unsigned>(plan.parts));
  kernel<<<grid, kProductThreads, 0, launch.stream()>>>(params);
  launch.check();
  return true;
}

}  // namespace halfgrad::detail
