#pragma once

#include <halfgrad/core/cuda/gemm.h>

/// Three products of fp16 matrices, accumulated in f32, that can be read in an afternoon:
/// gemm_naive.cu, gemm_tiled.cu and gemm_tensor_core.cu. Each is the one before and one idea more.
namespace halfgrad::detail {

/// What the lessons compute: c = alpha a b + beta c + bias for `count` matrices. Any strides.
struct Lesson {
  const void* a;  // fp16 [m, k]
  const void* b;  // fp16 [k, n]
  void* c;        // fp16 or f32 [m, n]
  std::int64_t m, n, k;
  std::int64_t a_row, a_col, b_row, b_col, c_row, c_col;  // strides in elements
  std::int64_t a_batch, b_batch, c_batch;
  float alpha, beta;
  DType c_dtype;
  RowBias bias;
};

/// At most so many blocks lie side by side in a grid, and behind each other; a lesson's blocks have
/// at least so many columns of C.
inline constexpr std::int64_t kMostBlocks = 65535;
inline constexpr int kLeastCols = 32;

/// If set_gemm_backend has chosen a lesson and it takes these operands, queues it; else false.
bool multiply_by_lesson(const GemmCall& call);

void gemm_naive(const Lesson& lesson, std::int64_t count, Device device);
void gemm_tiled(const Lesson& lesson, std::int64_t count, Device device);
void gemm_tensor_core(const Lesson& lesson, std::int64_t count, Device device);

}  // namespace halfgrad::detail
