// Memory allocated and freed in stream order, with a use in another stream after an event.
#include "../right.h"

__global__ void fill(int* x, int value) { x[threadIdx.x] = value; }
__global__ void add(int* sum, const int* x) { sum[threadIdx.x] += x[threadIdx.x]; }

int main() {
  Buffer<int> sum(64);
  cudaStream_t a, b;
  cudaEvent_t ready, done;
  CHECK(cudaStreamCreate(&a));
  CHECK(cudaStreamCreate(&b));
  CHECK(cudaEventCreate(&ready));
  CHECK(cudaEventCreate(&done));
  cudaMemPool_t pool;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long threshold = ~0ull;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  for (int round = 1; round <= 4; ++round) {
    int* x;
    CHECK(cudaMallocAsync(&x, 64 * sizeof(int), a));
    fill<<<1, 64, 0, a>>>(x, round);
    CHECK(cudaEventRecord(ready, a));
    CHECK(cudaStreamWaitEvent(b, ready, 0));
    add<<<1, 64, 0, b>>>(sum, x);
    CHECK(cudaEventRecord(done, b));
    CHECK(cudaStreamWaitEvent(a, done, 0));
    CHECK(cudaFreeAsync(x, a));
  }
  settle();
  EXPECT(values(sum.data, 64)[3] == 10);
  CHECK(cudaEventDestroy(ready));
  CHECK(cudaEventDestroy(done));
  CHECK(cudaStreamDestroy(a));
  CHECK(cudaStreamDestroy(b));
}
