// Host functions and callbacks run in the order of their stream.
#include "../right.h"

__global__ void add(int* x) { ++*x; }

void CUDART_CB launched(void* data) { *static_cast<int*>(data) = 5; }
void CUDART_CB called(cudaStream_t, cudaError_t status, void* data) {
  if (status == cudaSuccess) ++*static_cast<int*>(data);
}

int main() {
  Buffer<int> x(1);
  cudaStream_t s;
  int seen = 0;
  int* out;
  CHECK(cudaMallocHost(&out, 4));
  CHECK(cudaStreamCreate(&s));
  add<<<1, 1, 0, s>>>(x);
  CHECK(cudaMemcpyAsync(out, x, 4, cudaMemcpyDeviceToHost, s));
  CHECK(cudaLaunchHostFunc(s, launched, &seen));
  CHECK(cudaStreamAddCallback(s, called, &seen, 0));
  CHECK(cudaStreamSynchronize(s));
  EXPECT(seen == 6 && *out == 1);
  CHECK(cudaStreamDestroy(s));
  CHECK(cudaFreeHost(out));
}
