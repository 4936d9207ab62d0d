// A histogram counts without atomics.
#include "../planted.h"

__global__ void histogram(const int* x, int* bins, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) bins[(x[i] + i) % 7] += 1;  // expect: race
}

int main() {
  Buffer<int> x(256), bins(7);
  histogram<<<2, 128>>>(x, bins, 256);
  return finish();
}
