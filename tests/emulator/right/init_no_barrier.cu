// All threads wait until the counter is cleared.
#include "../planted.h"

__global__ void count(int* out) {
  __shared__ int counter;
  if (threadIdx.x == 0) counter = 0;
  __syncthreads();
  atomicAdd(&counter, 1);
  __syncthreads();
  if (threadIdx.x == 0) *out = counter;
}

int main() {
  Buffer<int> out(1);
  count<<<1, 128>>>(out);
  return finish();
}
