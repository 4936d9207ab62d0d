// A thread waits until all others have added to the sum.
#include "../planted.h"

__global__ void sum(int* out) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, static_cast<int>(threadIdx.x));
  __syncthreads();
  if (threadIdx.x == 127) *out = total;
}

int main() {
  Buffer<int> out(1);
  sum<<<1, 128>>>(out);
  return finish();
}
