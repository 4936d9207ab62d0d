#pragma once

#include <halfgrad/core/cuda/kernels/gemm.h>

/// Three kernels that multiply fp16 matrices and accumulate in f32: gemm_naive.cu, gemm_tiled.cu
/// and gemm_tensor_core.cu. Each adds one idea to the one before; docs/gemm_ladder.md compares
/// them.
namespace halfgrad::detail {

/// Arguments of a lesson's kernel: c = alpha a b + beta c + bias for a batch of matrices with any
/// strides.
struct GemmParams {
  const void* a;  // fp16 [m, k]
  const void* b;  // fp16 [k, n]
  void* c;        // fp16 or f32 [m, n]
  std::int64_t m, n, k;
  std::int64_t a_row, a_col, b_row, b_col, c_row, c_col;  // strides in elements
  std::int64_t a_batch, b_batch, c_batch;                 // from one matrix to the next
  float alpha, beta;
  DType c_dtype;
  RowBias bias;
};

/// CUDA's limit of blocks along y and along z of a grid. A lesson's blocks cover at least
/// kMinBlockCols columns of C along y, and one matrix each along z.
inline constexpr std::int64_t kMaxGridYZ = 65535;
inline constexpr int kMinBlockCols = 32;

/// Queues the lesson that set_gemm_backend has chosen. Returns false if none is chosen or it does
/// not take these operands.
bool multiply_by_lesson(const GemmCall& call);

void gemm_naive(const GemmParams& params, std::int64_t count, Device device);
void gemm_tiled(const GemmParams& params, std::int64_t count, Device device);
void gemm_tensor_core(const GemmParams& params, std::int64_t count, Device device);

}  // namespace halfgrad::detail
