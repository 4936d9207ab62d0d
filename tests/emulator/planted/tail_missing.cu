// The grid is larger than the array, and no thread checks it.
#include "../planted.h"

__global__ void scale(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 2 * i;  // expect: out-of-bounds
}

int main() {
  Buffer<float> x(100);
  scale<<<1, 128>>>(x, 100);
  return finish();
}
