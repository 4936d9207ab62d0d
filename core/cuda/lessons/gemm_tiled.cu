// Lesson 2: tiles in shared memory, and smaller tiles in registers.
//
// A block computes a tile of 128 x 128 of C in steps of 16 along k. In each step its threads load
// 128 x 16 of A and 16 x 128 of B into shared memory, wait for each other, and then use each
// element 128 times. An H100's memory delivers 3.35 TB/s:
//
//     2 x 128 x 128 x 16 FLOP for 2 x 128 x 16 x 2 bytes: 64 FLOP a byte, up to 214 TFLOP/s
//
// Shared memory is the next bound: a multiprocessor loads 32 floats a clock from it, and can do 128
// multiply-adds. So a thread keeps a tile of C in registers, too. For each k it loads one column of
// A's part and one row of B's part, and multiplies every pair of them:
//
//     4 x 4 a thread    8 loads for 16 multiply-adds: 32 loads feed  64, up to 31 TFLOP/s
//     8 x 8 a thread   16 loads for 64 multiply-adds: 32 loads feed 128, up to 62 TFLOP/s
//
// With 8 x 8, f32 arithmetic bounds the kernel at 62 TFLOP/s. Loads of 16 bytes, a float4, leave
// more issue slots for multiply-adds: 4 load instructions for 64 of them, instead of 16.
//
//     block tile 128 x 128 = 4 x 2 warp tiles of 32 x 64, each of 4 x 8 thread tiles of 8 x 8
//
// Lesson 3 uses the tensor cores, which could do 989 TFLOP/s.

#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/lessons/gemm_lesson_device.h>

namespace halfgrad::detail {
namespace {

constexpr int kBlockTile = 128;                  // rows and columns of C for a block
constexpr int kDepth = 16;                       // elements of k in one step
constexpr int kThreadTile = 8;                   // rows and columns of C for a thread
constexpr int kLanesDown = 4, kLanesAcross = 8;  // how a warp's threads are arranged
constexpr int kWarpRows = kLanesDown * kThreadTile, kWarpCols = kLanesAcross * kThreadTile;
constexpr int kWarpsAcross = kBlockTile / kWarpCols;
constexpr int kThreads = 32 * (kBlockTile / kWarpRows) * kWarpsAcross;
constexpr int kVector = 4;  // floats in a load of 16 bytes
static_assert(kLanesDown * kLanesAcross == 32 && kThreadTile == 2 * kVector);
static_assert(kBlockTile >= kMinBlockCols);

// tile[k][i]: each row is padded by 16 bytes, against bank conflicts where k varies fastest among
// the threads that store.
constexpr int kPad = kVector;
using Tile = float[kDepth][kBlockTile + kPad];

// A or B: `size` rows of A or columns of B, and the strides along them and along k.
struct Operand {
  const __half* data;
  std::int64_t size, depth, stride, k_stride;
};

// tile[k][i] = operand[first + i, from + k], 0 beyond the edges. Neighbouring threads load elements
// that are contiguous in memory.
__device__ void load_tile(Tile& tile, const Operand& operand, std::int64_t first, std::int64_t from,
                          int thread) {
  const bool is_contiguous = operand.stride == 1;
  for (int at = thread; at < kBlockTile * kDepth; at += kThreads) {
    const int i = is_contiguous ? at % kBlockTile : at / kDepth;
    const int k = is_contiguous ? at / kBlockTile : at % kDepth;
    const bool inside = first + i < operand.size && from + k < operand.depth;
    const std::int64_t offset = (first + i) * operand.stride + (from + k) * operand.k_stride;
    tile[k][i] = inside ? __half2float(operand.data[offset]) : 0.0F;
  }
}

// A thread's 8 rows, or columns, are two runs of 4, one in each half of its warp tile: so the
// float4 loads of neighbouring threads are contiguous. Returns the offset of row i from the first.
template <int kWarpSize>
__device__ constexpr int offset_of(int i) {
  return i / kVector * (kWarpSize / 2) + i % kVector;
}

// Loads a thread's part of one row of a tile; `from` points to its first element.
template <int kWarpSize>
__device__ void load_part(float (&part)[kThreadTile], const float* from) {
#pragma unroll
  for (int i = 0; i < kThreadTile; i += kVector) {
    const float4 vector = *reinterpret_cast<const float4*>(from + offset_of<kWarpSize>(i));
    part[i] = vector.x;
    part[i + 1] = vector.y;
    part[i + 2] = vector.z;
    part[i + 3] = vector.w;
  }
}

__global__ void __launch_bounds__(kThreads) tiled(GemmParams params) {
  __shared__ __align__(16) Tile a_tile;
  __shared__ __align__(16) Tile b_tile;
  params = select_batch(params);
  const Operand a{static_cast<const __half*>(params.a), params.m, params.k, params.a_row,
                  params.a_col};
  const Operand b{static_cast<const __half*>(params.b), params.n, params.k, params.b_col,
                  params.b_row};
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * kBlockTile;
  const std::int64_t first_col = static_cast<std::int64_t>(blockIdx.y) * kBlockTile;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int row = warp / kWarpsAcross * kWarpRows + lane / kLanesAcross * kVector;
  const int col = warp % kWarpsAcross * kWarpCols + lane % kLanesAcross * kVector;

  float sums[kThreadTile][kThreadTile] = {};
  for (std::int64_t from = 0; from < params.k; from += kDepth) {
    load_tile(a_tile, a, first_row, from, thread);
    load_tile(b_tile, b, first_col, from, thread);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      float a_part[kThreadTile], b_part[kThreadTile];
      load_part<kWarpRows>(a_part, &a_tile[k][row]);
      load_part<kWarpCols>(b_part, &b_tile[k][col]);
#pragma unroll
      for (int i = 0; i < kThreadTile; ++i) {
#pragma unroll
        for (int j = 0; j < kThreadTile; ++j) {
          sums[i][j] = fmaf(a_part[i], b_part[j], sums[i][j]);
        }
      }
    }
    __syncthreads();  // before the next step overwrites the tiles
  }
#pragma unroll
  for (int j = 0; j < kThreadTile; ++j) {
    const std::int64_t c = first_col + col + offset_of<kWarpCols>(j);
    if (c >= params.n) continue;
    const float bias = load_bias(params, c);
#pragma unroll
    for (int i = 0; i < kThreadTile; ++i) {
      const std::int64_t r = first_row + row + offset_of<kWarpRows>(i);
      if (r < params.m) epilogue(params, r, c, sums[i][j], bias);
    }
  }
}

}  // namespace

void gemm_tiled(const GemmParams& params, std::int64_t count, Device device) {
  const Launch launch(device, "gemm", {count, params.m, params.n});
  const dim3 grid(blocks_for(params.m, kBlockTile), blocks_for(params.n, kBlockTile),
                  static_cast<unsigned>(count));
  tiled<<<grid, kThreads, 0, launch.stream()>>>(params);
  launch.check();
}

}  // namespace halfgrad::detail
