// Threads store 16 bits where only 8 are theirs.
#include "../planted.h"

__global__ void bytes(unsigned char* out) {
  __shared__ alignas(4) unsigned char tile[130];
  if (threadIdx.x % 2 == 0) tile[threadIdx.x + 1] = 1;  // expect: race
  if (threadIdx.x % 2 == 1) tile[threadIdx.x] = 2;
  __syncthreads();
  if (threadIdx.x % 2 == 1) out[threadIdx.x] = tile[threadIdx.x];
}

int main() {
  Buffer<unsigned char> out(128);
  bytes<<<1, 128>>>(out);
  return finish();
}
