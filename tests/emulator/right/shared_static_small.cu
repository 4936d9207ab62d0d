// A shared array has an element for each thread.
#include "../planted.h"

__global__ void copy(int* x) {
  __shared__ int tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[threadIdx.x ^ 1];
}

int main() {
  Buffer<int> x(64);
  copy<<<1, 64>>>(x);
  return finish();
}
