// One thread clears a counter and others add to it at once.
#include "../planted.h"

__global__ void count(int* out) {
  __shared__ int counter;
  if (threadIdx.x == 0) counter = 0;
  atomicAdd(&counter, 1);  // expect: race
  __syncthreads();
  if (threadIdx.x == 0) *out = counter;
}

int main() {
  Buffer<int> out(1);
  count<<<1, 128>>>(out);
  return finish();
}
