// Layer normalisation of each row of a float32 matrix:
//     y = (x - mean) / sqrt(var + 1e-5) * weight + bias
#include "all_float32.h"

#include <cmath>

namespace {

float centred_variance(const float* x, int64_t k, float mean) {
  float sum = 0;
  for (int64_t i = 0; i < k; ++i) sum += (x[i] - mean) * (x[i] - mean);
  return sum / static_cast<float>(k);
}

// E[x^2] - E[x]^2 saves one pass, but cancels: with a large mean most digits are lost.
float uncentred_variance(const float* x, int64_t k, float mean) {
  float sum = 0;
  for (int64_t i = 0; i < k; ++i) sum += x[i] * x[i];
  return sum / static_cast<float>(k) - mean * mean;
}

template <class Variance>
int normalize(const halfgrad_tensor* inputs, const halfgrad_tensor* output,
              const Variance& variance) {
  const int64_t m = inputs[0].sizes[0], k = inputs[0].sizes[1];
  const auto* weight = static_cast<const float*>(inputs[1].data);
  const auto* bias = static_cast<const float*>(inputs[2].data);
  for (int64_t row = 0; row < m; ++row) {
    const float* x = static_cast<const float*>(inputs[0].data) + row * k;
    float* y = static_cast<float*>(output->data) + row * k;
    float sum = 0;
    for (int64_t i = 0; i < k; ++i) sum += x[i];
    const float mean = sum / static_cast<float>(k);
    const float scale = 1 / std::sqrt(variance(x, k, mean) + 1e-5f);
    for (int64_t i = 0; i < k; ++i) y[i] = (x[i] - mean) * scale * weight[i] + bias[i];
  }
  return 0;
}

}  // namespace

extern "C" int layer_norm_good(const halfgrad_tensor* inputs, int32_t input_count,
                               const halfgrad_tensor* output, void*) {
  if (!all_float32(inputs, input_count, *output)) return 1;
  return normalize(inputs, output, centred_variance);
}

extern "C" int layer_norm_bad(const halfgrad_tensor* inputs, int32_t input_count,
                              const halfgrad_tensor* output, void*) {
  if (!all_float32(inputs, input_count, *output)) return 1;
  return normalize(inputs, output, uncentred_variance);
}
