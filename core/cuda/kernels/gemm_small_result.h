#pragma once

#include <algorithm>
#include <cstdint>

#include <halfgrad/core/cuda/kernels/gemm_small_tile.h>
#include <halfgrad/core/math/math.h>

/// The last part of gemm_small.cu: the epilogue and the stores of C. A thread has four neighbours
/// in a row of C at a time.
namespace halfgrad::detail {

/// C and its epilogue.
struct ProductResult {
  void* c;
  std::int64_t rows, cols;
  std::int64_t row_stride, col_stride;
  bool wide;         ///< C has f32 elements
  bool in_fours;     ///< four columns, the first a multiple of four, are one aligned store
  const void* bias;  ///< or null
  bool wide_bias;
  bool relu;
  const void* relu_output;  ///< or null
  void* row_sums;           ///< or null
};

/// Element `at` of memory that holds f32 if `wide`, else T.
template <class T>
__device__ float load_element(const void* data, bool wide, std::int64_t at) {
  return wide ? static_cast<const float*>(data)[at]
              : static_cast<float>(static_cast<const T*>(data)[at]);
}
template <class T>
__device__ void store_element(void* data, bool wide, std::int64_t at, float value) {
  if (wide) {
    static_cast<float*>(data)[at] = value;
  } else {
    static_cast<T*>(data)[at] = static_cast<T>(value);
  }
}

/// Four elements from `at` on, by one aligned access.
template <class T>
__device__ float4 load_four(const void* data, bool wide, std::int64_t at) {
  if (wide) return *reinterpret_cast<const float4*>(static_cast<const float*>(data) + at);
  const uint2 pairs = *reinterpret_cast<const uint2*>(static_cast<const T*>(data) + at);
  const float2 low = PairOf<T>::widen(pairs.x), high = PairOf<T>::widen(pairs.y);
  return make_float4(low.x, low.y, high.x, high.y);
}
template <class T>
__device__ void store_four(void* data, bool wide, std::int64_t at, const float4& value) {
  if (wide) {
    *reinterpret_cast<float4*>(static_cast<float*>(data) + at) = value;
  } else {
    *reinterpret_cast<uint2*>(static_cast<T*>(data) + at) =
        make_uint2(PairOf<T>::narrow(value.x, value.y), PairOf<T>::narrow(value.z, value.w));
  }
}

/// The bias of the columns of C that the thread stores: the same four in every row. A column beyond
/// the edge, which is not stored, gets the bias of the last.
template <class T>
__device__ float4 load_bias(const ProductResult& to, std::int64_t col) {
  if (to.bias == nullptr) return {};
  const auto element = [&](int i) {
    return load_element<T>(to.bias, to.wide_bias, std::min(col + i, to.cols - 1));
  };
  return make_float4(element(0), element(1), element(2), element(3));
}

/// The sum with its bias and relu. relu before rounding gives the bits of relu after it.
__device__ inline float with_bias_and_relu(const ProductResult& to, float sum, float bias) {
  if (to.bias != nullptr) sum += bias;
  return to.relu ? math::maximum(sum, 0.0F) : sum;
}

/// Rounds and stores four neighbours in a row of C, as far as they are inside.
template <class T>
__device__ void store_result(const ProductResult& to, std::int64_t row, std::int64_t col,
                             float4 sum, const float4& bias) {
  if (row >= to.rows || col >= to.cols) return;
  sum.x = with_bias_and_relu(to, sum.x, bias.x);
  sum.y = with_bias_and_relu(to, sum.y, bias.y);
  sum.z = with_bias_and_relu(to, sum.z, bias.z);
  sum.w = with_bias_and_relu(to, sum.w, bias.w);
  const std::int64_t at = row * to.row_stride + col * to.col_stride;
  if (to.in_fours && col + 4 <= to.cols) {
    if (to.relu_output != nullptr) {
      const float4 y = load_four<T>(to.relu_output, to.wide, at);
      sum = make_float4(y.x <= 0 ? 0 : sum.x, y.y <= 0 ? 0 : sum.y, y.z <= 0 ? 0 : sum.z,
                        y.w <= 0 ? 0 : sum.w);
    }
    store_four<T>(to.c, to.wide, at, sum);
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (col + i >= to.cols) return;
    const std::int64_t place = at + i * to.col_stride;
    float value = i == 0 ? sum.x : i == 1 ? sum.y : i == 2 ? sum.z : sum.w;
    if (to.relu_output != nullptr && load_element<T>(to.relu_output, to.wide, place) <= 0) {
      value = 0;
    }
    store_element<T>(to.c, to.wide, place, value);
  }
}

}  // namespace halfgrad::detail
