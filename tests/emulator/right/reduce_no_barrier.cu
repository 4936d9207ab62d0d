// A tree reduction has a barrier between its steps.
#include "../planted.h"

__global__ void reduce(const float* x, float* out) {
  __shared__ float tile[256];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s) tile[threadIdx.x] += tile[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = tile[0];
}

int main() {
  Buffer<float> x(256), out(1);
  reduce<<<1, 256>>>(x, out);
  return finish();
}
