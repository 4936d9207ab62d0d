// Lesson 3: tensor cores, fed while they compute.
//
// A warp multiplies 16 x 16 by 16 x 16 in one instruction (WMMA): fp16 operands, f32 sums. That is
// so quick that feeding it is the task, and each level of memory gets its own answer:
//
//   memory     a block makes 128 x 128 of C in steps of 32 along k: 64 FLOP a byte. At 3.35 TB/s
//              that is 214 TFLOP/s, and as neighbouring blocks find each other's tiles in the L2
//              cache, memory is not what bounds a large product.
//   latency    cp.async copies 16 bytes from memory to shared memory past the registers, and the
//              thread goes on. Two buffers: the next step's tiles arrive while this step's are
//              used.
//   shared     a warp makes 64 x 32: 4 + 2 fragments read for 8 products, 21 FLOP a byte. 132
//              multiprocessors at 128 bytes a clock of 1.76 GHz: a roofline of 630 TFLOP/s, under
//              the 990 of the tensor cores. Lines are 16 bytes longer than their numbers, so that
//              the 8 rows of 16 bytes that a load touches lie in different banks.
//
// From there to cuBLASLt: tensor cores that read shared memory themselves (wgmma), and tiles that
// arrive by hardware (TMA), both since compute capability 9.0.

#include <mma.h>

#include <halfgrad/core/cuda/gemm_lesson_device.h>
#include <halfgrad/core/cuda/launch.h>

namespace halfgrad::detail {
namespace {

namespace wmma = nvcuda::wmma;

constexpr int kTileSize = 128;  // rows and columns of C for a block
constexpr int kDepth = 32;      // of a step along k
constexpr int kPad = 8;         // numbers between two lines of a tile
constexpr int kChunk = 8;       // numbers that a thread copies at once: 16 bytes
constexpr int kFragment = 16;
constexpr int kWarpsDown = 2, kWarpsAcross = 4;
constexpr int kWarps = kWarpsDown * kWarpsAcross;
constexpr int kThreads = 32 * kWarps;
static_assert(kTileSize >= kLeastCols);
constexpr int kDown = kTileSize / kWarpsDown / kFragment;      // fragments of C for a warp: 4
constexpr int kAcross = kTileSize / kWarpsAcross / kFragment;  // by 2

// A or B in memory as lines of numbers that follow each other at `step`, 1 wherever possible.
struct Lines {
  __device__ Lines(const void* from, std::int64_t number, std::int64_t long_,
                   std::int64_t line_stride, std::int64_t number_stride)
      : data(static_cast<const __half*>(from)),
        lines(number),
        length(long_),
        stride(line_stride),
        step(number_stride) {}

  const __half* data;
  std::int64_t lines, length, stride, step;

  // Whether chunks are aligned as cp.async wants them.
  __device__ bool in_chunks() const {
    return step == 1 && stride % kChunk == 0 && reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
  }
};

// A tile of kLines lines of kLength numbers in shared memory.
template <int kLines, int kLength>
struct SharedTile {
  static constexpr int kStride = kLength + kPad;
  static constexpr int kNumbers = kLines * kStride;
};

// 16 bytes to shared memory, of which the first `bytes` come from memory and the others are 0.
__device__ void copy_async(__half* to, const __half* from, int bytes) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes)
               : "memory");
}
__device__ void end_of_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Until all copies but those of the last group have arrived.
__device__ void wait_for_copies() { asm volatile("cp.async.wait_group 1;" ::: "memory"); }

// Begins to fill a tile from (first_line, first) on; what lies beyond the edges is 0.
template <int kLines, int kLength>
__device__ void load_tile(__half* tile, const Lines& from, std::int64_t first_line,
                          std::int64_t first, bool in_chunks) {
  constexpr int kPerLine = kLength / kChunk;
#pragma unroll
  for (int round = 0; round < kLines * kPerLine / kThreads; ++round) {
    const int chunk = round * kThreads + static_cast<int>(threadIdx.x);
    const std::int64_t line = first_line + chunk / kPerLine;
    const std::int64_t begin = first + chunk % kPerLine * kChunk;
    __half* const to =
        tile + chunk / kPerLine * SharedTile<kLines, kLength>::kStride + chunk % kPerLine * kChunk;
    const std::int64_t left = line < from.lines ? from.length - begin : 0;
    const int count = static_cast<int>(left < 0 ? 0 : left < kChunk ? left : kChunk);
    const __half* const source =
        count > 0 ? from.data + line * from.stride + begin * from.step : from.data;
    if (in_chunks) {
      copy_async(to, source, count * static_cast<int>(sizeof(__half)));
    } else {
#pragma unroll
      for (int i = 0; i < kChunk; ++i) to[i] = i < count ? source[i * from.step] : __half(0);
    }
  }
}

// Memory order decides how a tile is kept; the fragments are told, so nothing is ever transposed.
// kAlongDepth: lines run along k, else across it.
template <bool kAlongDepth>
using TileOf =
    std::conditional_t<kAlongDepth, SharedTile<kTileSize, kDepth>, SharedTile<kDepth, kTileSize>>;

template <bool kAlongDepth>
__device__ void load_step(__half* tile, const Lines& from, std::int64_t first, std::int64_t k,
                          bool in_chunks) {
  if constexpr (kAlongDepth) {
    load_tile<kTileSize, kDepth>(tile, from, first, k, in_chunks);
  } else {
    load_tile<kDepth, kTileSize>(tile, from, k, first, in_chunks);
  }
}

template <bool kAlongDepth>
__device__ const __half* fragment_at(const __half* tile, int along, int k) {
  constexpr int kStride = TileOf<kAlongDepth>::kStride;
  return tile + (kAlongDepth ? along * kStride + k : k * kStride + along);
}

using Sums = wmma::fragment<wmma::accumulator, kFragment, kFragment, kFragment, float>;

template <bool kAAlongDepth, bool kBAlongDepth>
__device__ void multiply_step(Sums (&sums)[kDown][kAcross], const __half* a_tile,
                              const __half* b_tile, int row, int col) {
  using AOrder = std::conditional_t<kAAlongDepth, wmma::row_major, wmma::col_major>;
  using BOrder = std::conditional_t<kBAlongDepth, wmma::col_major, wmma::row_major>;
  using A = wmma::fragment<wmma::matrix_a, kFragment, kFragment, kFragment, __half, AOrder>;
  using B = wmma::fragment<wmma::matrix_b, kFragment, kFragment, kFragment, __half, BOrder>;
#pragma unroll
  for (int k = 0; k < kDepth; k += kFragment) {
    A a[kDown];
    B b[kAcross];
#pragma unroll
    for (int i = 0; i < kDown; ++i) {
      wmma::load_matrix_sync(a[i], fragment_at<kAAlongDepth>(a_tile, row + i * kFragment, k),
                             TileOf<kAAlongDepth>::kStride);
    }
#pragma unroll
    for (int j = 0; j < kAcross; ++j) {
      wmma::load_matrix_sync(b[j], fragment_at<kBAlongDepth>(b_tile, col + j * kFragment, k),
                             TileOf<kBAlongDepth>::kStride);
    }
#pragma unroll
    for (int i = 0; i < kDown; ++i) {
#pragma unroll
      for (int j = 0; j < kAcross; ++j) wmma::mma_sync(sums[i][j], a[i], b[j], sums[i][j]);
    }
  }
}

// Which thread holds which number of a fragment is the hardware's affair: it goes through shared
// memory, `staged`, 16 x 16 of this warp's own, to be finished row by row.
__device__ void finish_fragment(const Lesson& lesson, const Sums& sums, float* staged,
                                std::int64_t row, std::int64_t col) {
  wmma::store_matrix_sync(staged, sums, kFragment, wmma::mem_row_major);
  __syncwarp();
  for (int at = static_cast<int>(threadIdx.x) % 32; at < kFragment * kFragment; at += 32) {
    const std::int64_t r = row + at / kFragment, c = col + at % kFragment;
    if (r < lesson.m && c < lesson.n) finish(lesson, r, c, staged[at]);
  }
  __syncwarp();
}

template <bool kAAlongDepth, bool kBAlongDepth>
__global__ void __launch_bounds__(kThreads) tensor_core(Lesson lesson) {
  constexpr int kANumbers = TileOf<kAAlongDepth>::kNumbers;
  constexpr int kStage = kANumbers + TileOf<kBAlongDepth>::kNumbers;
  __shared__ __align__(128) __half tiles[2 * kStage];
  static_assert(sizeof(float) * kWarps * kFragment * kFragment <= sizeof(tiles));

  lesson = of_batch(lesson);
  const Lines a = kAAlongDepth ? Lines(lesson.a, lesson.m, lesson.k, lesson.a_row, lesson.a_col)
                               : Lines(lesson.a, lesson.k, lesson.m, lesson.a_col, lesson.a_row);
  const Lines b = kBAlongDepth ? Lines(lesson.b, lesson.n, lesson.k, lesson.b_col, lesson.b_row)
                               : Lines(lesson.b, lesson.k, lesson.n, lesson.b_row, lesson.b_col);
  const bool a_in_chunks = a.in_chunks(), b_in_chunks = b.in_chunks();
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * kTileSize;
  const std::int64_t first_col = static_cast<std::int64_t>(blockIdx.y) * kTileSize;
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
    load_step<kAAlongDepth>(tile, a, first_row, step * kDepth, a_in_chunks);
    load_step<kBAlongDepth>(tile + kANumbers, b, first_col, step * kDepth, b_in_chunks);
  };
  const std::int64_t steps = (lesson.k + kDepth - 1) / kDepth;
  if (steps > 0) begin_step(0);
  end_of_copies();
  for (std::int64_t step = 0; step < steps; ++step) {
    if (step + 1 < steps) begin_step(step + 1);
    end_of_copies();  // of an empty group after the last step, so that one is always left
    wait_for_copies();
    __syncthreads();
    const __half* const tile = tiles + step % 2 * kStage;
    multiply_step<kAAlongDepth, kBAlongDepth>(sums, tile, tile + kANumbers, row, col);
    __syncthreads();  // before this buffer is filled again
  }

  float* const staged = reinterpret_cast<float*>(tiles) + warp * kFragment * kFragment;
#pragma unroll
  for (int i = 0; i < kDown; ++i) {
#pragma unroll
    for (int j = 0; j < kAcross; ++j) {
      finish_fragment(lesson, sums[i][j], staged, first_row + row + i * kFragment,
                      first_col + col + j * kFragment);
    }
  }
}

}  // namespace

void gemm_tensor_core(const Lesson& lesson, std::int64_t count, Device device) {
  const Launch launch(device, "gemm", {count, lesson.m, lesson.n});
  const dim3 grid(blocks_for(lesson.m, kTileSize), blocks_for(lesson.n, kTileSize),
                  static_cast<unsigned>(count));
  const bool a_along_depth = lesson.a_col == 1, b_along_depth = lesson.b_row == 1;
  const auto kernel = a_along_depth
                          ? (b_along_depth ? tensor_core<true, true> : tensor_core<true, false>)
                          : (b_along_depth ? tensor_core<false, true> : tensor_core<false, false>);
  kernel<<<grid, kThreads, 0, launch.stream()>>>(lesson);
  launch.check();
}

}  // namespace halfgrad::detail
