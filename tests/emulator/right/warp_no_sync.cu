// Lanes exchange values through shared memory with __syncwarp.
#include "../planted.h"

__global__ void exchange(int* x) {
  __shared__ int tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncwarp();
  x[threadIdx.x] = tile[31 - threadIdx.x];
}

int main() {
  Buffer<int> x(32);
  exchange<<<1, 32>>>(x);
  return finish();
}
