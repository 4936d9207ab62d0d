#pragma once

#include <halfgrad/core/cuda/engines/load_store.h>
#include <halfgrad/core/cuda/lessons/gemm_lesson.h>

/// Device code that the three lessons share.
namespace halfgrad::detail {

/// Returns the parameters with pointers to matrix blockIdx.z of the batch.
__device__ inline GemmParams select_batch(GemmParams params) {
  const std::int64_t batch = blockIdx.z;
  params.a = static_cast<const __half*>(params.a) + batch * params.a_batch;
  params.b = static_cast<const __half*>(params.b) + batch * params.b_batch;
  const int bytes = params.c_dtype == DType::f32 ? 4 : 2;
  params.c = static_cast<std::byte*>(params.c) + batch * params.c_batch * bytes;
  return params;
}

/// Returns the bias of column `col` < n, or 0 if there is none.
__device__ inline float load_bias(const GemmParams& params, std::int64_t col) {
  if (params.bias.data == nullptr) return 0;
  return load<float>(static_cast<const std::byte*>(params.bias.data), params.bias.dtype, col);
}

/// The epilogue of one element, in f32 until it is rounded once:
///
///     c[row, col] = alpha sum + beta c[row, col] + bias
__device__ inline void epilogue(const GemmParams& params, std::int64_t row, std::int64_t col,
                                float sum, float bias) {
  const std::int64_t at = row * params.c_row + col * params.c_col;
  auto* const half = static_cast<Half*>(params.c);
  auto* const wide = static_cast<float*>(params.c);
  const bool is_wide = params.c_dtype == DType::f32;
  sum *= params.alpha;
  if (params.beta != 0) {
    sum += params.beta * (is_wide ? wide[at] : convert_on_device<float>(half[at]));
  }
  if (params.bias.data != nullptr) sum += bias;  // adding 0 would turn -0 into +0
  if (is_wide) {
    wide[at] = sum;
  } else {
    half[at] = convert_on_device<Half>(sum);
  }
}

}  // namespace halfgrad::detail
