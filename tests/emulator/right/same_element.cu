// Each warp stores to its own element.
#include "../planted.h"

__global__ void store(int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}

int main() {
  Buffer<int> out(64);
  store<<<1, 64>>>(out);
  return finish();
}
