// The launch gives all dynamic shared memory that the kernel uses.
#include "../planted.h"

__global__ void reverse(int* x) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = x[threadIdx.x];  // expect: out-of-bounds
  __syncthreads();
  x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

int main() {
  Buffer<int> x(64);
  reverse<<<1, 64, 64 * sizeof(int)>>>(x);
  return finish();
}
