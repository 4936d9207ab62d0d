// Memory is freed after the kernel that uses it.
#include "../planted.h"

__global__ void fill(int* x) { x[threadIdx.x] = 1; }

int main() {
  int* x = nullptr;
  CHECK(cudaMalloc(&x, 128));
  fill<<<1, 32>>>(x);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(x));
  return finish();
}
