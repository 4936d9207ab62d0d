#pragma once

#include <cmath>

#include <halfgrad/tests/testing/planted/bug.h>

namespace halfgrad::testing::planted {

/// y = (x - mean) / sqrt(var + eps) * weight + bias, in two passes.
struct LayerNorm {
  Bug bug = Bug::none;

  template <class T>
  void run(const std::vector<Array>& in, const Array& out) const {
    const std::int64_t rows = in[0].size(0), k = in[0].size(1);
    const T* weight = in[1].data_as<T>();
    const T* bias = in[2].data_as<T>();
    for (std::int64_t row = 0; row < rows; ++row) {
      const T* x = in[0].data_as<T>() + row * k;
      T* y = out.data_as<T>() + row * k;
      float sum = 0, squares = 0;
      for (std::int64_t i = 0; i < k; ++i) sum += widened(x[i]);
      const auto count = static_cast<float>(k);
      float mean = sum / count;
      if (bug == Bug::norm_mean_in_storage) mean = through<T>(mean);
      const bool one_pass = bug == Bug::norm_one_pass_variance;
      for (std::int64_t i = 0; i < k; ++i) {
        const float d = widened(x[i]) - (one_pass ? 0 : mean);
        squares += d * d;
      }
      float variance = squares / (bug == Bug::norm_unbiased_variance ? count - 1 : count);
      if (one_pass) variance -= mean * mean;
      const float scale = inverse_deviation(variance);
      for (std::int64_t i = 0; i < k; ++i) {
        const float normal = (widened(x[i]) - mean) * scale;
        const float factor = widened(weight[bug == Bug::norm_weight_of_row ? row % k : i]);
        y[i] = T(normal * factor + (bug == Bug::norm_without_bias ? 0 : widened(bias[i])));
      }
    }
  }

 private:
  float inverse_deviation(float variance) const {
    if (bug == Bug::norm_eps_outside_root) return 1 / (std::sqrt(variance) + 1e-5f);
    if (bug == Bug::norm_without_eps) return 1 / std::sqrt(variance);
    const float exact = 1 / std::sqrt(variance + 1e-5f);
    return bug == Bug::norm_rough_rsqrt ? exact * (1 + 0x1p-11f) : exact;
  }
};

}  // namespace halfgrad::testing::planted
