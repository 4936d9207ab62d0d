// rms_norm's backward kernel through the C interface, which passes both outputs as an array, for
// halfgrad_check.cmake.
#include <halfgrad/testing/kernel_abi.h>

namespace {

/// grad_output and input [m, k], rstd [m], weight [k] -> dx [m, k], dw [k]
int rms_norm_backward(const halfgrad_tensor* inputs, const halfgrad_tensor* outputs,
                      bool is_right) {
  if (inputs[0].dtype != halfgrad_float32) return 1;
  const auto data = [](const halfgrad_tensor& x) { return static_cast<float*>(x.data); };
  const float *dy = data(inputs[0]), *x = data(inputs[1]);
  const float *rstd = data(inputs[2]), *weight = data(inputs[3]);
  const int64_t m = inputs[0].sizes[0], k = inputs[0].sizes[1];
  float *dx = data(outputs[0]), *dw = data(outputs[1]);
  for (int64_t i = 0; i < k; ++i) dw[i] = 0;
  for (int64_t row = 0; row < m; ++row) {
    float product = 0;
    for (int64_t i = row * k; i < (row + 1) * k; ++i) {
      const float normed = x[i] * rstd[row];
      product += dy[i] * weight[i % k] * normed;
      dw[i % k] += dy[i] * (is_right ? normed : x[i]);
    }
    const float mean = product / static_cast<float>(k);
    for (int64_t i = row * k; i < (row + 1) * k; ++i) {
      dx[i] = rstd[row] * (dy[i] * weight[i % k] - x[i] * rstd[row] * mean);
    }
  }
  return 0;
}

}  // namespace

extern "C" int rms_norm_backward_good(const halfgrad_tensor* inputs, int32_t,
                                      const halfgrad_tensor* outputs, void*) {
  return rms_norm_backward(inputs, outputs, true);
}

extern "C" int rms_norm_backward_bad(const halfgrad_tensor* inputs, int32_t,
                                     const halfgrad_tensor* outputs, void*) {
  return rms_norm_backward(inputs, outputs, false);
}
