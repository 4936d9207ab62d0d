// Two warps store different values to one element.
#include "../planted.h"

__global__ void store(int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x % 32] = threadIdx.x;  // expect: race
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x % 32];
}

int main() {
  Buffer<int> out(64);
  store<<<1, 64>>>(out);
  return finish();
}
