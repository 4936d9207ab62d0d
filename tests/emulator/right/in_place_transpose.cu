// A matrix is transposed into another one.
#include "../planted.h"

__global__ void transpose(int* x, int* y) {
  const int r = threadIdx.y, c = threadIdx.x;
  y[r * 16 + c] = x[c * 16 + r];
}

int main() {
  Buffer<int> x(256), y(256);
  transpose<<<1, dim3(16, 16)>>>(x, y);
  return finish();
}
