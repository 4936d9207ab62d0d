// A histogram counts with atomics.
#include "../planted.h"

__global__ void histogram(const int* x, int* bins, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[(x[i] + i) % 7], 1);
}

int main() {
  Buffer<int> x(256), bins(7);
  histogram<<<2, 128>>>(x, bins, 256);
  return finish();
}
