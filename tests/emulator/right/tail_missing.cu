// The grid is larger than the array; each thread checks it.
#include "../planted.h"

__global__ void scale(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 2 * i;
}

int main() {
  Buffer<float> x(100);
  scale<<<1, 128>>>(x, 100);
  return finish();
}
