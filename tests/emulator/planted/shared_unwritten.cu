// Half of a shared array is read without having been written.
#include "../planted.h"

__global__ void copy(int* y) {
  __shared__ int tile[64];
  if (threadIdx.x < 32) tile[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];  // expect: uninitialised
}

int main() {
  Buffer<int> y(64);
  copy<<<1, 64>>>(y);
  return finish();
}
