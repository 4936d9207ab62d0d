#pragma once

#include <array>
#include <cmath>

#include <halfgrad/tests/testing/planted/bug.h>

namespace halfgrad::testing::planted {

/// The sum of a row by a block of 32 lanes: each sums every 32nd element, then a tree adds halves
/// of the block. The lanes run one after another, as a GPU may run them where a barrier is missing.
struct SumRows {
  static constexpr std::int64_t kLanes = 32;
  Bug bug = Bug::none;

  template <class T>
  void run(const std::vector<Array>& in, const Array& out) const {
    const std::int64_t m = in[0].size(0), k = in[0].size(1);
    const std::int64_t row_stride = bug == Bug::sum_wrong_row_stride && m > 0 ? m : k;
    const std::int64_t rows = bug == Bug::sum_rounds_rows_down ? m / 2 * 2 : m;
    static int launches = 0;
    const bool backwards = bug == Bug::sum_order_of_arrival && ++launches % 2 == 0;
    std::array<float, kLanes> partial{};
    for (std::int64_t row = 0; row < rows; ++row) {
      const T* x = in[0].data_as<T>() + row * row_stride;
      if (bug != Bug::sum_keeps_last_row) partial.fill(0);
      std::int64_t end = k;
      if (bug == Bug::sum_skips_tail) end = k / kLanes * kLanes;
      if (bug == Bug::sum_reads_one_beyond) end = k + 1;
      for (std::int64_t i = bug == Bug::sum_skips_first ? 1 : 0; i < end; ++i) {
        float& sum = partial[static_cast<std::size_t>(i % kLanes)];
        const float each = widened(x[backwards ? k - 1 - i : i]);
        sum += bug == Bug::sum_swallows_nan && std::isnan(each) ? 0 : each;
        if (bug == Bug::sum_accumulates_in_storage) sum = through<T>(sum);
      }
      if (bug == Bug::sum_partials_in_16_bits) {
        for (float& sum : partial) sum = through<Half>(sum);
      }
      out.data_as<T>()[row] = T(tree(partial));
    }
  }

 private:
  float tree(std::array<float, kLanes>& partial) const {
    if (bug == Bug::sum_missing_barrier) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
          if (lane < half) partial[lane] += partial[lane + half];
        }
      }
      return partial[0];
    }
    const std::size_t widest = bug == Bug::sum_tree_misses_a_level ? kLanes / 4 : kLanes / 2;
    for (std::size_t half = widest; half > 0; half /= 2) {
      for (std::size_t lane = 0; lane < half; ++lane) partial[lane] += partial[lane + half];
    }
    return partial[0];
  }
};

}  // namespace halfgrad::testing::planted
