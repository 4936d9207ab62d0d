// Two halves of a constant array: a kernel reads one half while a copy in another stream writes the
// other.
#include "../right.h"

constexpr int kCount = 64;
__constant__ int factors[2][kCount];

__global__ void multiply(int* x, int half) { x[threadIdx.x] *= factors[half][threadIdx.x]; }

int main() {
  const std::size_t bytes = kCount * sizeof(int);
  int* host = nullptr;
  CHECK(cudaMallocHost(&host, 2 * bytes));
  for (int i = 0; i < 2 * kCount; ++i) host[i] = 2 + i / kCount;
  cudaStream_t compute, copies;
  cudaEvent_t copied, used;
  CHECK(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&copied));
  CHECK(cudaEventCreate(&used));
  Buffer<int> x(kCount);
  upload<int>(x, std::vector<int>(kCount, 1));
  CHECK(cudaMemcpyToSymbol(factors, host, bytes));
  CHECK(cudaDeviceSynchronize());

  for (int step = 0; step < 4; ++step) {
    const int now = step % 2, next = 1 - now;
    CHECK(cudaStreamWaitEvent(compute, copied, 0));
    multiply<<<1, kCount, 0, compute>>>(x, now);
    if (step > 0) CHECK(cudaStreamWaitEvent(copies, used, 0));
    CHECK(cudaMemcpyToSymbolAsync(factors, host + next * kCount, bytes, next * bytes,
                                  cudaMemcpyHostToDevice, copies));
    CHECK(cudaEventRecord(copied, copies));
    CHECK(cudaEventRecord(used, compute));
  }
  settle();
  EXPECT(values<int>(x, kCount) == std::vector<int>(kCount, 2 * 3 * 2 * 3));
  CHECK(cudaEventDestroy(used));
  CHECK(cudaEventDestroy(copied));
  CHECK(cudaStreamDestroy(copies));
  CHECK(cudaStreamDestroy(compute));
  CHECK(cudaFreeHost(host));
}
