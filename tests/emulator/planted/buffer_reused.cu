// A loop reuses its shared buffer without a barrier after the reads.
#include "../planted.h"

__global__ void shift(int* x, int n) {
  __shared__ int tile[128];
  for (int i = 0; i < n; ++i) {
    tile[threadIdx.x] = x[i * 128 + threadIdx.x];  // expect: race
    __syncthreads();
    x[i * 128 + threadIdx.x] = tile[(threadIdx.x + 40) % 128];
  }
}

int main() {
  Buffer<int> x(512);
  shift<<<1, 128>>>(x, 4);
  return finish();
}
