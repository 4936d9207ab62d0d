// A read-only load touches live memory.
#include "../planted.h"

__global__ void touch(int* x, int* out) { out[threadIdx.x] = __ldg(x + threadIdx.x); }

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
