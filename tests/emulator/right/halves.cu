// Arithmetic of half2 and bf16, atomics on them, an odd tail.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "../right.h"

__global__ void axpy(const half* x, half* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i + 1 < n) {
    const half2 v = reinterpret_cast<const half2*>(x)[i];
    half2* out = reinterpret_cast<half2*>(y) + i;
    *out = __hfma2(v, __float2half2_rn(2.0f), *out);
  } else if (2 * i < n) {
    y[2 * i] = __hfma(x[2 * i], __float2half(2.0f), y[2 * i]);
  }
}
__global__ void sums(__nv_bfloat16* total, half2* pairs, float* exact) {
  const __nv_bfloat16 one = __float2bfloat16(1.0f);
  atomicAdd(total, one);
  atomicAdd(pairs, __floats2half2_rn(1.0f, 2.0f));
  exact[threadIdx.x] = __bfloat162float(__hmul(__float2bfloat16(threadIdx.x), one));
}

int main() {
  std::vector<half> host(77);
  for (int i = 0; i < 77; ++i) host[i] = __float2half(float(i));
  Buffer<half> x(77), y(77);
  Buffer<__nv_bfloat16> total(2);
  Buffer<half2> pairs(1);
  Buffer<float> exact(64);
  upload(x.data, host);
  upload(y.data, host);
  axpy<<<2, 32>>>(x, y, 77);
  sums<<<1, 64>>>(total, pairs, exact);
  settle();
  const auto out = values(y.data, 77);
  for (int i = 0; i < 77; ++i) EXPECT(__half2float(out[i]) == 3.0f * i);
  EXPECT(__bfloat162float(values(total.data, 1)[0]) == 64.0f);
  EXPECT(__high2float(values(pairs.data, 1)[0]) == 128.0f);
  EXPECT(values(exact.data, 64)[63] == 63.0f);
}
