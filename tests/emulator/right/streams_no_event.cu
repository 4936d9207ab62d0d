// An event orders a second stream after the first one.
#include "../planted.h"

__global__ void fill(int* x) { x[threadIdx.x] = threadIdx.x; }
__global__ void read(const int* x, int* y) { y[threadIdx.x] = x[threadIdx.x]; }

int main() {
  Buffer<int> x(64), y(64);
  CHECK(cudaDeviceSynchronize());
  cudaStream_t first, second;
  CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  fill<<<1, 64, 0, first>>>(x);
  cudaEvent_t filled;
  CHECK(cudaEventCreate(&filled));
  CHECK(cudaEventRecord(filled, first));
  CHECK(cudaStreamWaitEvent(second, filled, 0));
  read<<<1, 64, 0, second>>>(x, y);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaEventDestroy(filled));
  CHECK(cudaStreamDestroy(first));
  CHECK(cudaStreamDestroy(second));
  return finish();
}
