// A kernel runs on memory that was freed.
#include "../planted.h"

__global__ void fill(int* x) {
  x[threadIdx.x] = 1;  // expect: use-after-free
}

int main() {
  int* x = nullptr;
  CHECK(cudaMalloc(&x, 128));
  CHECK(cudaFree(x));
  fill<<<1, 32>>>(x);
  return finish();
}
