// Threads of a block exchange values through global memory without a barrier.
#include "../planted.h"

__global__ void exchange(int* x, int* y) {
  x[threadIdx.x] = threadIdx.x;
  y[threadIdx.x] = x[127 - threadIdx.x];  // expect: race
}

int main() {
  Buffer<int> x(128), y(128);
  exchange<<<1, 128>>>(x, y);
  return finish();
}
