// A second stream reads what the first one writes, and no event orders them.
#include "../planted.h"

__global__ void fill(int* x) { x[threadIdx.x] = threadIdx.x; }
__global__ void read(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x];  // expect: stream-race
}

int main() {
  Buffer<int> x(64), y(64);
  CHECK(cudaDeviceSynchronize());
  cudaStream_t first, second;
  CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  fill<<<1, 64, 0, first>>>(x);
  read<<<1, 64, 0, second>>>(x, y);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaStreamDestroy(first));
  CHECK(cudaStreamDestroy(second));
  return finish();
}
