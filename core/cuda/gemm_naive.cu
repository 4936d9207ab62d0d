// Lesson 1: one thread an element of C.
//
// A thread reads a row of A and a column of B: 2 k numbers for 2 k floating-point operations, one
// FLOP for 2 bytes. Neighbouring threads read the same row of A and neighbouring columns of B, so
// the caches catch most of it, but each of those reads is an instruction of its own: an H100's
// multiprocessor loads 32 numbers a clock and could do 128 multiply-adds on them. The roofline is
// that of the L1 cache, 132 x 128 bytes a clock: about 10 TFLOP/s of the 60 that f32 arithmetic
// could do, and of the 990 that its tensor cores could. Lesson 2 makes fewer loads do.

#include <halfgrad/core/cuda/gemm_lesson_device.h>
#include <halfgrad/core/cuda/launch.h>

namespace halfgrad::detail {
namespace {

constexpr int kRows = 8, kCols = 32;  // of a block: a warp is a row, so that it reads B in one go
static_assert(kCols >= kLeastCols);

__global__ void __launch_bounds__(kRows* kCols) naive(Lesson lesson) {
  lesson = of_batch(lesson);
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows + threadIdx.y;
  const std::int64_t col = static_cast<std::int64_t>(blockIdx.y) * kCols + threadIdx.x;
  if (row >= lesson.m || col >= lesson.n) return;
  const auto* a = static_cast<const __half*>(lesson.a) + row * lesson.a_row;
  const auto* b = static_cast<const __half*>(lesson.b) + col * lesson.b_col;
  float sum = 0;
  for (std::int64_t k = 0; k < lesson.k; ++k) {
    sum = fmaf(__half2float(*a), __half2float(*b), sum);
    a += lesson.a_col;
    b += lesson.b_row;
  }
  finish(lesson, row, col, sum);
}

}  // namespace

void gemm_naive(const Lesson& lesson, std::int64_t count, Device device) {
  const Launch launch(device, "gemm", {count, lesson.m, lesson.n});
  const dim3 grid(blocks_for(lesson.m, kRows), blocks_for(lesson.n, kCols),
                  static_cast<unsigned>(count));
  naive<<<grid, dim3(kCols, kRows), 0, launch.stream()>>>(lesson);
  launch.check();
}

}  // namespace halfgrad::detail
