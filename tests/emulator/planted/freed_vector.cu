// A vector store touches freed memory.
#include "../planted.h"

__global__ void touch(int* x, int* out) {
  reinterpret_cast<int4*>(x)[threadIdx.x % 8] = make_int4(1, 2, 3, 4);  // expect: use-after-free
}

int main() {
  int* x = nullptr;
  Buffer<int> out(32);
  CHECK(cudaMalloc(&x, 128));
  CHECK(cudaMemset(x, 0, 128));
  CHECK(cudaFree(x));
  touch<<<1, 32>>>(x, out);
  return finish();
}
