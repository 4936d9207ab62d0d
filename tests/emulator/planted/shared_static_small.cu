// A shared array has fewer elements than the block has threads.
#include "../planted.h"

__global__ void copy(int* x) {
  __shared__ int tile[48];
  tile[threadIdx.x] = x[threadIdx.x];  // expect: out-of-bounds
  __syncthreads();
  x[threadIdx.x] = tile[threadIdx.x ^ 1];
}

int main() {
  Buffer<int> x(64);
  copy<<<1, 64>>>(x);
  return finish();
}
