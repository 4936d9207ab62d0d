// A program makes errors on purpose and reads each; work goes on afterwards.
#include <cstring>

#include "../right.h"

__global__ void fill(int* x) { x[threadIdx.x] = 1; }

int main() {
  void* huge = nullptr;
  EXPECT(cudaMalloc(&huge, size_t(1) << 50) == cudaErrorMemoryAllocation);
  EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
  Buffer<int> x(32);
  fill<<<1, 2048>>>(x);
  EXPECT(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  EXPECT(cudaGetLastError() == cudaSuccess);
  void* arguments[] = {&x.data};
  const void* kernel = reinterpret_cast<const void*>(fill);
  if (cudaLaunchCooperativeKernel(kernel, 1 << 16, 32, arguments) != cudaSuccess) {
    EXPECT(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
    fill<<<1, 32>>>(x);
  }
  EXPECT(cudaSetDevice(1000) == cudaErrorInvalidDevice);
  (void)cudaGetLastError();
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  const cudaError_t busy = cudaStreamQuery(s);
  EXPECT(busy == cudaSuccess || busy == cudaErrorNotReady);
  EXPECT(std::strlen(cudaGetErrorName(cudaErrorInvalidValue)) > 0);
  fill<<<1, 32, 0, s>>>(x);
  CHECK(cudaGetLastError());
  CHECK(cudaStreamSynchronize(s));
  EXPECT(values(x.data, 32)[31] == 1);
  CHECK(cudaStreamDestroy(s));
}
