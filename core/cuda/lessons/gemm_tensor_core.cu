// Lesson 3: tensor cores, fed while they compute.
//
// A warp multiplies 16 x 16 by 16 x 16 in one WMMA operation, with fp16 operands and f32 sums.
//
//     block tile, 128 x 128             warp tile, 64 x 32       fragment, 16 x 16
//     +------+------+------+------+     +------+------+
//     |      |      |      |      |     | 0, 0 | 0, 1 |          256 sums, which one WMMA
//     |warp 0|warp 1|warp 2|warp 3|     +------+------+          operation updates: 8 in
//     |      |      |      |      | --> | 1, 0 | 1, 1 | -->      the registers of each of
//     +------+------+------+------+     +------+------+          the warp's 32 threads
//     |      |      |      |      |     | 2, 0 | 2, 1 |
//     |warp 4|warp 5|warp 6|warp 7|     +------+------+
//     |      |      |      |      |     | 3, 0 | 3, 1 |
//     +------+------+------+------+     +------+------+
//
// Tensor cores are so fast that memory is the bottleneck. Each level of memory needs its own
// remedy:
//
//   memory     A block computes 128 x 128 of C in steps of 32 along k: 64 FLOP a byte. At 3.35 TB/s
//              that is 214 TFLOP/s. Neighbouring blocks share tiles, which stay in the L2 cache, so
//              memory does not bound a large matrix product.
//   latency    Double buffering: cp.async (engines/async_copy.h) copies the next step's tiles from
//              memory to shared memory while this step's are used. The copy needs no registers, and
//              no thread waits for it.
//   shared     A warp loads 4 + 2 fragments for 8 WMMA operations: 21 FLOP a byte. 132
//              multiprocessors at 128 bytes a clock of 1.83 GHz give a roofline of 660 TFLOP/s.
//              Each tile row is padded by 16 bytes to avoid bank conflicts: the 8 rows of 16 bytes
//              that a load touches are in different banks.
//   tensor     132 x 2048 multiply-adds a clock: 989 TFLOP/s, out of reach of shared memory.
//
// cuBLASLt goes further on compute capability 9.0: its tensor cores read shared memory directly
// (wgmma), and hardware copies whole tiles (TMA). A C of a few tiles needs another remedy, since
// most multiprocessors have no block: kernels/gemm_small.cu.

#include <mma.h>

#include <halfgrad/core/cuda/engines/async_copy.h>
#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/lessons/gemm_lesson_device.h>

namespace halfgrad::detail {
namespace {

namespace wmma = nvcuda::wmma;

constexpr int kBlockTile = 128;  // rows and columns of C for a block
constexpr int kDepth = 32;       // elements of k in one step
constexpr int kPad = 8;          // elements of padding after each row of a tile
constexpr int kChunk = 8;        // elements that a thread copies at once: 16 bytes
constexpr int kFragment = 16;    // rows and columns of a fragment
constexpr int kWarpsDown = 2, kWarpsAcross = 4;
constexpr int kWarps = kWarpsDown * kWarpsAcross;
constexpr int kThreads = 32 * kWarps;
static_assert(kBlockTile >= kMinBlockCols);
constexpr int kDown = kBlockTile / kWarpsDown / kFragment;      // fragments down a warp tile: 4
constexpr int kAcross = kBlockTile / kWarpsAcross / kFragment;  // fragments across it: 2

// A or B as it is stored: rows of elements, contiguous if the matrix has a unit stride.
struct StoredRows {
  __device__ StoredRows(const void* from, std::int64_t row_count, std::int64_t row_length,
                        std::int64_t row_stride, std::int64_t element_stride)
      : data(static_cast<const __half*>(from)),
        rows(row_count),
        length(row_length),
        stride(row_stride),
        step(element_stride) {}

  const __half* data;
  std::int64_t rows, length, stride, step;

  // Whether every chunk is contiguous and aligned to 16 bytes, as cp.async requires.
  __device__ bool in_chunks() const {
    return step == 1 && stride % kChunk == 0 && reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
  }
};

// A tile of kRows x kCols in shared memory.
template <int kRows, int kCols>
struct SharedTile {
  static constexpr int kStride = kCols + kPad;
  static constexpr int kElements = kRows * kStride;
};

// Starts to fill a tile with the elements from (first_row, first_col) on, and with 0 beyond the
// edges.
template <int kRows, int kCols>
__device__ void load_tile(__half* tile, const StoredRows& from, std::int64_t first_row,
                          std::int64_t first_col, bool in_chunks) {
  constexpr int kPerRow = kCols / kChunk;
#pragma unroll
  for (int round = 0; round < kRows * kPerRow / kThreads; ++round) {
    const int chunk = round * kThreads + static_cast<int>(threadIdx.x);
    const std::int64_t row = first_row + chunk / kPerRow;
    const std::int64_t col = first_col + chunk % kPerRow * kChunk;
    __half* const to =
        tile + chunk / kPerRow * SharedTile<kRows, kCols>::kStride + chunk % kPerRow * kChunk;
    const std::int64_t left = row < from.rows ? from.length - col : 0;
    const int count = static_cast<int>(left < 0 ? 0 : left < kChunk ? left : kChunk);
    const __half* const source =
        count > 0 ? from.data + row * from.stride + col * from.step : from.data;
    if (in_chunks) {
      copy_async<16>(to, source, count * static_cast<int>(sizeof(__half)));
    } else {
#pragma unroll
      for (int i = 0; i < kChunk; ++i) to[i] = i < count ? source[i * from.step] : __half(0);
    }
  }
}

// A tile keeps the layout that its matrix has in global memory: its rows run along k (K-major), or
// each row is one k. The WMMA fragment's row_major or col_major absorbs the transpose.
template <bool kKMajor>
using TileOf =
    std::conditional_t<kKMajor, SharedTile<kBlockTile, kDepth>, SharedTile<kDepth, kBlockTile>>;

template <bool kKMajor>
__device__ void load_step(__half* tile, const StoredRows& from, std::int64_t first, std::int64_t k,
                          bool in_chunks) {
  if constexpr (kKMajor) {
    load_tile<kBlockTile, kDepth>(tile, from, first, k, in_chunks);
  } else {
    load_tile<kDepth, kBlockTile>(tile, from, k, first, in_chunks);
  }
}

template <bool kKMajor>
__device__ const __half* fragment_at(const __half* tile, int first, int k) {
  constexpr int kStride = TileOf<kKMajor>::kStride;
  return tile + (kKMajor ? first * kStride + k : k * kStride + first);
}

using Sums = wmma::fragment<wmma::accumulator, kFragment, kFragment, kFragment, float>;

template <bool kAKMajor, bool kBKMajor>
__device__ void multiply_step(Sums (&sums)[kDown][kAcross], const __half* a_tile,
                              const __half* b_tile, int row, int col) {
  using AOrder = std::conditional_t<kAKMajor, wmma::row_major, wmma::col_major>;
  using BOrder = std::conditional_t<kBKMajor, wmma::col_major, wmma::row_major>;
  using A = wmma::fragment<wmma::matrix_a, kFragment, kFragment, kFragment, __half, AOrder>;
  using B = wmma::fragment<wmma::matrix_b, kFragment, kFragment, kFragment, __half, BOrder>;
#pragma unroll
  for (int k = 0; k < kDepth; k += kFragment) {
    A a[kDown];
    B b[kAcross];
#pragma unroll
    for (int i = 0; i < kDown; ++i) {
      wmma::load_matrix_sync(a[i], fragment_at<kAKMajor>(a_tile, row + i * kFragment, k),
                             TileOf<kAKMajor>::kStride);
    }
#pragma unroll
    for (int j = 0; j < kAcross; ++j) {
      wmma::load_matrix_sync(b[j], fragment_at<kBKMajor>(b_tile, col + j * kFragment, k),
                             TileOf<kBKMajor>::kStride);
    }
#pragma unroll
    for (int i = 0; i < kDown; ++i) {
#pragma unroll
      for (int j = 0; j < kAcross; ++j) wmma::mma_sync(sums[i][j], a[i], b[j], sums[i][j]);
    }
  }
}

// The epilogue of one fragment. CUDA does not say which thread holds which element, so the fragment
// goes through shared memory: `staged` is this warp's own, 16 x 16.
__device__ void fragment_epilogue(const GemmParams& params, const Sums& sums, float* staged,
                                  std::int64_t row, std::int64_t col) {
  wmma::store_matrix_sync(staged, sums, kFragment, wmma::mem_row_major);
  __syncwarp();
  for (int at = static_cast<int>(threadIdx.x) % 32; at < kFragment * kFragment; at += 32) {
    const std::int64_t r = row + at / kFragment, c = col + at % kFragment;
    if (r < params.m && c < params.n) epilogue(params, r, c, staged[at], load_bias(params, c));
  }
  __syncwarp();
}

template <bool kAKMajor, bool kBKMajor>
__global__ void __launch_bounds__(kThreads) tensor_core(GemmParams params) {
  constexpr int kAElements = TileOf<kAKMajor>::kElements;
  constexpr int kStage = kAElements + TileOf<kBKMajor>::kElements;
  __shared__ __align__(128) __half tiles[2 * kStage];
  static_assert(sizeof(float) * kWarps * kFragment * kFragment <= sizeof(tiles));

  params = select_batch(params);
  const StoredRows a = kAKMajor
                           ? StoredRows(params.a, params.m, params.k, params.a_row, params.a_col)
                           : StoredRows(params.a, params.k, params.m, params.a_col, params.a_row);
  const StoredRows b = kBKMajor
                           ? StoredRows(params.b, params.n, params.k, params.b_col, params.b_row)
                           : StoredRows(params.b, params.k, params.n, params.b_row, params.b_col);
  const bool a_in_chunks = a.in_chunks(), b_in_chunks = b.in_chunks();
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * kBlockTile;
  const std::int64_t first_col = static_cast<std::int64_t>(blockIdx.y) * kBlockTile;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int row = warp / kWarpsAcross * kDown * kFragment;
  const int col = warp % kWarpsAcross * kAcross * kFragment;

  Sums sums[kDown][kAcross];
#pragma unroll
  for (int i = 0; i < kDown; ++i) {
#pragma unroll
    for (int j = 0; j < kAcross; ++j) wmma::fill_fragment(sums[i][j], 0.0F);
  }

  const auto begin_step = [&](std::int64_t step) {
    __half* const tile = tiles + step % 2 * kStage;
    load_step<kAKMajor>(tile, a, first_row, step * kDepth, a_in_chunks);
    load_step<kBKMajor>(tile + kAElements, b, first_col, step * kDepth, b_in_chunks);
  };
  const std::int64_t steps = (params.k + kDepth - 1) / kDepth;
  if (steps > 0) begin_step(0);
  end_group();
  for (std::int64_t step = 0; step < steps; ++step) {
    if (step + 1 < steps) begin_step(step + 1);
    end_group();  // empty in the last step: the wait below always leaves out the last group
    wait_for_groups<1>();
    __syncthreads();
    const __half* const tile = tiles + step % 2 * kStage;
    multiply_step<kAKMajor, kBKMajor>(sums, tile, tile + kAElements, row, col);
    __syncthreads();  // before this buffer is filled again
  }

  float* const staged = reinterpret_cast<float*>(tiles) + warp * kFragment * kFragment;
#pragma unroll
  for (int i = 0; i < kDown; ++i) {
#pragma unroll
    for (int j = 0; j < kAcross; ++j) {
      fragment_epilogue(params, sums[i][j], staged, first_row + row + i * kFragment,
                        first_col + col + j * kFragment);
    }
  }
}

}  // namespace

void gemm_tensor_core(const GemmParams& params, std::int64_t count, Device device) {
  const Launch launch(device, "gemm", {count, params.m, params.n});
  const dim3 grid(blocks_for(params.m, kBlockTile), blocks_for(params.n, kBlockTile),
                  static_cast<unsigned>(count));
  const bool a_k_major = params.a_col == 1, b_k_major = params.b_row == 1;
  const auto kernel = a_k_major
                          ? (b_k_major ? tensor_core<true, true> : tensor_core<true, false>)
                          : (b_k_major ? tensor_core<false, true> : tensor_core<false, false>);
  kernel<<<grid, kThreads, 0, launch.stream()>>>(params);
  launch.check();
}

}  // namespace halfgrad::detail
