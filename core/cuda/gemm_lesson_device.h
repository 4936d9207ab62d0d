#pragma once

#include <halfgrad/core/cuda/gemm_lesson.h>
#include <halfgrad/core/cuda/load_store.h>

/// What the three lessons have in common on the device.
namespace halfgrad::detail {

/// This block's matrix of the batch.
__device__ inline Lesson of_batch(Lesson lesson) {
  const std::int64_t batch = blockIdx.z;
  lesson.a = static_cast<const __half*>(lesson.a) + batch * lesson.a_batch;
  lesson.b = static_cast<const __half*>(lesson.b) + batch * lesson.b_batch;
  const int bytes = lesson.c_dtype == DType::f32 ? 4 : 2;
  lesson.c = static_cast<std::byte*>(lesson.c) + batch * lesson.c_batch * bytes;
  return lesson;
}

/// c[row, col] from the sum of products, in f32 until it is rounded once.
__device__ inline void finish(const Lesson& lesson, std::int64_t row, std::int64_t col, float sum) {
  const std::int64_t at = row * lesson.c_row + col * lesson.c_col;
  auto* const half = static_cast<Half*>(lesson.c);
  auto* const wide = static_cast<float*>(lesson.c);
  const bool is_wide = lesson.c_dtype == DType::f32;
  sum *= lesson.alpha;
  if (lesson.beta != 0) {
    sum += lesson.beta * (is_wide ? wide[at] : convert_on_device<float>(half[at]));
  }
  if (lesson.bias.data != nullptr) {
    sum += load<float>(static_cast<const std::byte*>(lesson.bias.data), lesson.bias.dtype, col);
  }
  if (is_wide) {
    wide[at] = sum;
  } else {
    half[at] = convert_on_device<Half>(sum);
  }
}

}  // namespace halfgrad::detail
