// Lesson 2: tiles in shared memory, and in registers.
//
// A block makes a tile of 64 x 64 of C. It goes along k in steps of 16: all its threads together
// load 64 x 16 of A and 16 x 64 of B into shared memory, once, and wait for each other; then each
// number is used 64 times. That divides the traffic of lesson 1 by 64: 2 x 64 x 64 x 16 FLOP for
// 2 x 64 x 16 x 2 bytes, 32 FLOP a byte, which an H100's memory (3.35 TB/s) feeds up to 107
// TFLOP/s.
//
// The same again from shared memory to registers: a thread makes 4 x 4 of C, and 8 numbers read
// serve 16 multiply-adds. So the roofline is now that of f32 arithmetic, 60 TFLOP/s; loads and the
// two barriers a step leave perhaps half of it. Lesson 3 asks the tensor cores.

#include <halfgrad/core/cuda/gemm_lesson_device.h>
#include <halfgrad/core/cuda/launch.h>

namespace halfgrad::detail {
namespace {

constexpr int kTileSize = 64;  // rows and columns of C for a block
constexpr int kDepth = 16;     // of a step along k
constexpr int kPerSide = 4;    // rows and columns of C for a thread
constexpr int kSide = kTileSize / kPerSide;
constexpr int kThreads = kSide * kSide;
static_assert(kTileSize >= kLeastCols);

// A or B as the kernel walks it: `along` numbers rows of A or columns of B, `k` the depth.
struct Side {
  const __half* data;
  std::int64_t size, depth, along_stride, k_stride;
};

// tile[k][i] = side[first + i, from + k], 0 beyond the edges. Threads that are neighbours load
// what lies side by side in memory.
__device__ void load_tile(float (&tile)[kDepth][kTileSize + 1], const Side& side,
                          std::int64_t first, std::int64_t from, int thread) {
  const bool along_is_dense = side.along_stride == 1;
  for (int at = thread; at < kTileSize * kDepth; at += kThreads) {
    const int i = along_is_dense ? at % kTileSize : at / kDepth;
    const int k = along_is_dense ? at / kTileSize : at % kDepth;
    const bool inside = first + i < side.size && from + k < side.depth;
    const std::int64_t offset = (first + i) * side.along_stride + (from + k) * side.k_stride;
    tile[k][i] = inside ? __half2float(side.data[offset]) : 0.0F;
  }
}

__global__ void __launch_bounds__(kThreads) tiled(Lesson lesson) {
  __shared__ float a_tile[kDepth]
                         [kTileSize + 1];  // one more, so that columns lie in different banks
  __shared__ float b_tile[kDepth][kTileSize + 1];
  lesson = of_batch(lesson);
  const Side a{static_cast<const __half*>(lesson.a), lesson.m, lesson.k, lesson.a_row,
               lesson.a_col};
  const Side b{static_cast<const __half*>(lesson.b), lesson.n, lesson.k, lesson.b_col,
               lesson.b_row};
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * kTileSize;
  const std::int64_t first_col = static_cast<std::int64_t>(blockIdx.y) * kTileSize;
  const int thread = static_cast<int>(threadIdx.x);
  // A thread's rows and columns are kSide apart: neighbours read neighbouring banks.
  const int row = thread / kSide, col = thread % kSide;

  float sums[kPerSide][kPerSide] = {};
  for (std::int64_t from = 0; from < lesson.k; from += kDepth) {
    load_tile(a_tile, a, first_row, from, thread);
    load_tile(b_tile, b, first_col, from, thread);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      float a_part[kPerSide], b_part[kPerSide];
#pragma unroll
      for (int i = 0; i < kPerSide; ++i) {
        a_part[i] = a_tile[k][row + i * kSide];
        b_part[i] = b_tile[k][col + i * kSide];
      }
#pragma unroll
      for (int i = 0; i < kPerSide; ++i) {
#pragma unroll
        for (int j = 0; j < kPerSide; ++j) {
          sums[i][j] = fmaf(a_part[i], b_part[j], sums[i][j]);
        }
      }
    }
    __syncthreads();  // before the next step overwrites the tiles
  }
#pragma unroll
  for (int i = 0; i < kPerSide; ++i) {
#pragma unroll
    for (int j = 0; j < kPerSide; ++j) {
      const std::int64_t r = first_row + row + i * kSide, c = first_col + col + j * kSide;
      if (r < lesson.m && c < lesson.n) finish(lesson, r, c, sums[i][j]);
    }
  }
}

}  // namespace

void gemm_tiled(const Lesson& lesson, std::int64_t count, Device device) {
  const Launch launch(device, "gemm", {count, lesson.m, lesson.n});
  const dim3 grid(blocks_for(lesson.m, kTileSize), blocks_for(lesson.n, kTileSize),
                  static_cast<unsigned>(count));
  tiled<<<grid, kThreads, 0, launch.stream()>>>(lesson);
  launch.check();
}

}  // namespace halfgrad::detail
