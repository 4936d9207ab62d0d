// All of a shared array is written before it is read.
#include "../planted.h"

__global__ void copy(int* y) {
  __shared__ int tile[64];
  tile[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];
}

int main() {
  Buffer<int> y(64);
  copy<<<1, 64>>>(y);
  return finish();
}
