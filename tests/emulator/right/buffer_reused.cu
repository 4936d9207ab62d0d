// A loop waits before it reuses its shared buffer.
#include "../planted.h"

__global__ void shift(int* x, int n) {
  __shared__ int tile[128];
  for (int i = 0; i < n; ++i) {
    tile[threadIdx.x] = x[i * 128 + threadIdx.x];
    __syncthreads();
    x[i * 128 + threadIdx.x] = tile[(threadIdx.x + 40) % 128];
    __syncthreads();
  }
}

int main() {
  Buffer<int> x(512);
  shift<<<1, 128>>>(x, 4);
  return finish();
}
