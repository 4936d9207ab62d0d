// The sum of each row of a float32 matrix.
#include "all_float32.h"

namespace {

struct Rows {
  const float* x;
  float* y;
  int64_t m, k;

  Rows(const halfgrad_tensor* inputs, const halfgrad_tensor* output)
      : x(static_cast<const float*>(inputs[0].data)),
        y(static_cast<float*>(output->data)),
        m(inputs[0].sizes[0]),
        k(inputs[0].sizes[1]) {}
};

}  // namespace

// Four running sums: an addition need not wait for the previous one.
extern "C" int sum_good(const halfgrad_tensor* inputs, int32_t input_count,
                        const halfgrad_tensor* output, void*) {
  if (!all_float32(inputs, input_count, *output)) return 1;
  const Rows rows(inputs, output);
  for (int64_t row = 0; row < rows.m; ++row) {
    float sums[4] = {};
    for (int64_t i = 0; i < rows.k; ++i) sums[i % 4] += rows.x[row * rows.k + i];
    rows.y[row] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
  return 0;
}

// One running sum over the whole matrix; a row's sum is the difference of two of its values. In
// exact arithmetic that is the same. In floats a row gets the roundoff, and the NaN, of all rows
// before it.
extern "C" int sum_bad(const halfgrad_tensor* inputs, int32_t input_count,
                       const halfgrad_tensor* output, void*) {
  if (!all_float32(inputs, input_count, *output)) return 1;
  const Rows rows(inputs, output);
  float running = 0;
  for (int64_t row = 0; row < rows.m; ++row) {
    const float before = running;
    for (int64_t i = 0; i < rows.k; ++i) running += rows.x[row * rows.k + i];
    rows.y[row] = running - before;
  }
  return 0;
}
