// The product of two float32 matrices.
#include "all_float32.h"

namespace {

template <bool kSkipZeros>
int multiply(const halfgrad_tensor* inputs, const halfgrad_tensor* output) {
  const int64_t m = inputs[0].sizes[0], k = inputs[0].sizes[1], n = inputs[1].sizes[1];
  const auto* a = static_cast<const float*>(inputs[0].data);
  const auto* b = static_cast<const float*>(inputs[1].data);
  auto* c = static_cast<float*>(output->data);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) c[i * n + j] = 0;
    for (int64_t p = 0; p < k; ++p) {
      const float left = a[i * k + p];
      if (kSkipZeros && left == 0) continue;
      for (int64_t j = 0; j < n; ++j) c[i * n + j] += left * b[p * n + j];
    }
  }
  return 0;
}

}  // namespace

extern "C" int mm_good(const halfgrad_tensor* inputs, int32_t input_count,
                       const halfgrad_tensor* output, void*) {
  if (!all_float32(inputs, input_count, *output)) return 1;
  return multiply<false>(inputs, output);
}

// Skips rows of b that are multiplied by 0. But 0 * inf is NaN: this kernel hides that a network
// has diverged.
extern "C" int mm_bad(const halfgrad_tensor* inputs, int32_t input_count,
                      const halfgrad_tensor* output, void*) {
  if (!all_float32(inputs, input_count, *output)) return 1;
  return multiply<true>(inputs, output);
}
