// An update touches live memory.
#include "../planted.h"

__global__ void touch(int* x, int* out) { x[threadIdx.x] += 1; }

int main() {
  int* x = nullptr;
  Buffer<int> out(32);
  CHECK(cudaMalloc(&x, 128));
  CHECK(cudaMemset(x, 0, 128));
  touch<<<1, 32>>>(x, out);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(x));
  return finish();
}
