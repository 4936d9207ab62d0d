#pragma once

#include <cstdint>

#include <halfgrad/testing/kernel_check.h>

namespace halfgrad::testing::planted {

/// A mistake in one line of a correct kernel. list.h describes each; the kernel shows the line.
enum class Bug : std::uint8_t {
  none,
  // add
  add_missing_tail,
  add_tail_off_by_one,
  add_writes_one_beyond,
  add_writes_one_before,
  add_ignores_stride,
  add_aligns_pointer,
  add_flushes_to_zero,
  add_swallows_nan,
  add_saturates,
  add_truncates,
  add_rounds_twice,
  add_caches_result,
  add_scratch_in_input,
  // relu, sigmoid, gelu
  relu_swallows_nan,
  sigmoid_overflows,
  gelu_by_tanh,
  // sum
  sum_accumulates_in_storage,
  sum_missing_barrier,
  sum_tree_misses_a_level,
  sum_skips_first,
  sum_skips_tail,
  sum_reads_one_beyond,
  sum_keeps_last_row,
  sum_partials_in_16_bits,
  sum_order_of_arrival,
  sum_wrong_row_stride,
  sum_rounds_rows_down,
  sum_swallows_nan,
  // mm
  mm_skips_last_tile,
  mm_tile_not_cleared,
  mm_wrong_leading_dimension,
  mm_rounds_between_tiles,
  mm_skips_zeros,
  mm_writes_one_row_more,
  mm_misses_last_column,
  mm_adds_to_output,
  mm_transposed_output,
  mm_quarter_squares,
  // softmax
  softmax_without_max,
  softmax_max_from_zero,
  softmax_forgets_rescaling,
  softmax_sum_in_storage,
  softmax_short_log2e,
  softmax_sums_one_tile,
  softmax_scratch_in_output,
  // layer_norm
  norm_one_pass_variance,
  norm_unbiased_variance,
  norm_eps_outside_root,
  norm_without_eps,
  norm_weight_of_row,
  norm_without_bias,
  norm_mean_in_storage,
  norm_rough_rsqrt,
};

/// Makes a kernel of f.run<T>(inputs, output), where T stores the output's dtype.
template <class F>
Kernel on_dtype(const F& f) {
  return [f](const std::vector<Array>& inputs, const Array& output) {
    switch (output.dtype()) {
      case DType::f16:
        return f.template run<Half>(inputs, output);
      case DType::bf16:
        return f.template run<BFloat16>(inputs, output);
      default:
        return f.template run<float>(inputs, output);
    }
  };
}

inline float widened(float x) { return x; }
inline float widened(Half x) { return static_cast<float>(x); }
inline float widened(BFloat16 x) { return static_cast<float>(x); }

/// x rounded to T and widened again.
template <class T>
float through(float x) {
  return widened(T(x));
}

}  // namespace halfgrad::testing::planted
