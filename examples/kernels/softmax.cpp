// Softmax of each row of a float32 matrix.
#include "all_float32.h"

#include <cmath>

namespace {

int softmax(const halfgrad_tensor* inputs, const halfgrad_tensor* output, bool starts_from_zero) {
  const int64_t m = inputs[0].sizes[0], k = inputs[0].sizes[1];
  for (int64_t row = 0; row < m; ++row) {
    const float* x = static_cast<const float*>(inputs[0].data) + row * k;
    float* y = static_cast<float*>(output->data) + row * k;
    float largest = starts_from_zero ? 0 : -INFINITY;
    for (int64_t i = 0; i < k; ++i) largest = std::fmax(largest, x[i]);
    float sum = 0;
    for (int64_t i = 0; i < k; ++i) sum += y[i] = std::exp(x[i] - largest);
    for (int64_t i = 0; i < k; ++i) y[i] /= sum;
  }
  return 0;
}

}  // namespace

extern "C" int softmax_good(const halfgrad_tensor* inputs, int32_t input_count,
                            const halfgrad_tensor* output, void*) {
  if (!all_float32(inputs, input_count, *output)) return 1;
  return softmax(inputs, output, false);
}

// Starts the search for the maximum from 0, not from -inf. A row whose elements are all below about
// -100 becomes 0 / 0.
extern "C" int softmax_bad(const halfgrad_tensor* inputs, int32_t input_count,
                           const halfgrad_tensor* output, void*) {
  if (!all_float32(inputs, input_count, *output)) return 1;
  return softmax(inputs, output, true);
}
