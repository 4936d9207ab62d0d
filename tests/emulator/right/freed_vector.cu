// A vector store touches live memory.
#include "../planted.h"

__global__ void touch(int* x, int* out) {
  if (threadIdx.x < 8) reinterpret_cast<int4*>(x)[threadIdx.x] = make_int4(1, 2, 3, 4);
}

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
