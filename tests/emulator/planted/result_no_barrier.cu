// A thread reads a shared sum before all others have added to it.
#include "../planted.h"

__global__ void sum(int* out) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, static_cast<int>(threadIdx.x));
  if (threadIdx.x == 127) *out = total;  // expect: race
}

int main() {
  Buffer<int> out(1);
  sum<<<1, 128>>>(out);
  return finish();
}
