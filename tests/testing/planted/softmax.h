#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <halfgrad/tests/testing/planted/bug.h>

namespace halfgrad::testing::planted {

/// Online softmax: one pass over tiles of 16 with a running maximum m and sum of exp(x - m), which
/// is rescaled when m grows, and a second pass that writes.
struct Softmax {
  static constexpr std::int64_t kTile = 16;
  Bug bug = Bug::none;

  template <class T>
  void run(const std::vector<Array>& in, const Array& out) const {
    const std::int64_t rows = in[0].size(0), k = in[0].size(1);
    for (std::int64_t row = 0; row < rows; ++row) {
      const T* x = in[0].data_as<T>() + row * k;
      T* y = out.data_as<T>() + row * k;
      float largest =
          bug == Bug::softmax_max_from_zero ? 0 : -std::numeric_limits<float>::infinity();
      float sum = 0;
      for (std::int64_t first = 0; first < k; first += kTile) {
        const std::int64_t end = std::min(first + kTile, k);
        float next = largest;
        for (std::int64_t i = first; i < end; ++i) next = larger(next, widened(x[i]));
        if (bug == Bug::softmax_without_max) next = 0;
        if (bug != Bug::softmax_forgets_rescaling && sum > 0) sum *= exponential(largest - next);
        if (bug == Bug::softmax_sums_one_tile) sum = 0;
        largest = next;
        if (largest == -std::numeric_limits<float>::infinity()) continue;
        for (std::int64_t i = first; i < end; ++i) {
          const float e = exponential(widened(x[i]) - largest);
          if (bug == Bug::softmax_scratch_in_output) y[i] = T(e);
          sum += e;
          if (bug == Bug::softmax_sum_in_storage) sum = through<T>(sum);
        }
      }
      for (std::int64_t i = 0; i < k; ++i) y[i] = T(exponential(widened(x[i]) - largest) / sum);
    }
  }

 private:
  static float larger(float a, float b) { return b > a || std::isnan(b) ? b : a; }
  float exponential(float x) const {
    return bug == Bug::softmax_short_log2e ? std::exp2(x * 1.4427f) : std::exp(x);
  }
};

}  // namespace halfgrad::testing::planted
