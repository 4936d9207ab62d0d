// Lanes exchange values through shared memory without __syncwarp.
#include "../planted.h"

__global__ void exchange(int* x) {
  __shared__ int tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = tile[31 - threadIdx.x];  // expect: race
}

int main() {
  Buffer<int> x(32);
  exchange<<<1, 32>>>(x);
  return finish();
}
