// Two levels of shuffles sum a block; lanes past the last warp sum add zero.
#include "../right.h"

__device__ float warp_sum(float x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_down_sync(0xffffffffu, x, step);
  return x;
}

__global__ void sum(const float* x, float* result, int n) {
  __shared__ float sums[32];
  float total = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    total += x[i];
  total = warp_sum(total);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = total;
  __syncthreads();
  if (threadIdx.x < 32) {
    total = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0.0f;
    total = warp_sum(total);
    if (threadIdx.x == 0) atomicAdd(result, total);
  }
}

int main() {
  Buffer<float> x(1003), result(1);
  upload(x.data, std::vector<float>(1003, 2.0f));
  sum<<<3, 96>>>(x, result, 1003);
  settle();
  EXPECT(values(result.data, 1)[0] == 2006.0f);
}
