// Lesson 1: each thread computes one element of C.
//
// A thread reads a row of A and a column of B: 2 k elements for 2 k floating-point operations
// (FLOP). Neighbouring threads read the same row of A and neighbouring columns of B, so the caches
// serve most of it. But each read is a load of its own, and loads are what bounds the kernel. An
// H100 has 132 multiprocessors, here at 1.83 GHz (emulator/gpus/h100.json has the sources). In each
// clock a multiprocessor can start the loads of 32 threads and the multiply-adds of 128:
//
//     2 loads for a multiply-add   32 / 2 = 16 multiply-adds a clock
//     roofline                     132 x 16 x 2 FLOP x 1.83 GHz = 7.7 TFLOP/s
//     f32 arithmetic could do      132 x 128 x 2 FLOP x 1.83 GHz = 62 TFLOP/s
//
// Lesson 2 uses each loaded element several times.

#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/lessons/gemm_lesson_device.h>

namespace halfgrad::detail {
namespace {

// Threads of a block. A warp computes 32 neighbouring columns of one row, so its loads of B are
// coalesced.
constexpr int kBlockRows = 8, kBlockCols = 32;
static_assert(kBlockCols >= kMinBlockCols);

__global__ void __launch_bounds__(kBlockRows* kBlockCols) naive(GemmParams params) {
  params = select_batch(params);
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kBlockRows + threadIdx.y;
  const std::int64_t col = static_cast<std::int64_t>(blockIdx.y) * kBlockCols + threadIdx.x;
  if (row >= params.m || col >= params.n) return;
  const auto* a = static_cast<const __half*>(params.a) + row * params.a_row;
  const auto* b = static_cast<const __half*>(params.b) + col * params.b_col;
  float sum = 0;
  for (std::int64_t k = 0; k < params.k; ++k) {
    sum = fmaf(__half2float(*a), __half2float(*b), sum);
    a += params.a_col;
    b += params.b_row;
  }
  epilogue(params, row, col, sum, load_bias(params, col));
}

}  // namespace

void gemm_naive(const GemmParams& params, std::int64_t count, Device device) {
  const Launch launch(device, "gemm", {count, params.m, params.n});
  const dim3 grid(blocks_for(params.m, kBlockRows), blocks_for(params.n, kBlockCols),
                  static_cast<unsigned>(count));
  naive<<<grid, dim3(kBlockCols, kBlockRows), 0, launch.stream()>>>(params);
  launch.check();
}

}  // namespace halfgrad::detail
