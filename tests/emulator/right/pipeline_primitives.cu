// Two stages of cp.async by __pipeline_*: one is fetched while the other is used.
#include <cuda_pipeline.h>

#include "../right.h"

__global__ void scale(const float4* x, float4* y, int tiles) {
  __shared__ float4 stage[2][64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&stage[0][t], &x[t], sizeof(float4));
  __pipeline_commit();
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles)
      __pipeline_memcpy_async(&stage[(tile + 1) % 2][t], &x[(tile + 1) * 64 + t], sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    float4 v = stage[tile % 2][63 - t];
    v.x *= 2, v.y *= 2, v.z *= 2, v.w *= 2;
    y[tile * 64 + 63 - t] = v;
    __syncthreads();
  }
}

int main() {
  const int n = 7 * 64 * 4;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = float(i);
  Buffer<float> x(n), y(n);
  upload(x.data, host);
  scale<<<1, 64>>>(reinterpret_cast<float4*>(x.data), reinterpret_cast<float4*>(y.data), 7);
  settle();
  const auto out = values(y.data, n);
  for (int i = 0; i < n; ++i) EXPECT(out[i] == 2 * host[i]);
}
