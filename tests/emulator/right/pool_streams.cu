// Memory of a pool is made in one stream, used in another after an event, and freed after both.
#include "../right.h"

__global__ void fill(int* x, int value) { x[threadIdx.x] = value; }
__global__ void add(const int* x, int* y) { y[threadIdx.x] += x[threadIdx.x]; }

int main() {
  Buffer<int> y(64);
  cudaStream_t first, second;
  cudaEvent_t ready, used;
  CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&used, cudaEventDisableTiming));
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 4; ++i) {
    int* x = nullptr;
    CHECK(cudaMallocAsync(&x, 64 * sizeof(int), first));
    fill<<<1, 64, 0, first>>>(x, i);
    CHECK(cudaEventRecord(ready, first));
    CHECK(cudaStreamWaitEvent(second, ready, 0));
    add<<<1, 64, 0, second>>>(x, y);
    CHECK(cudaEventRecord(used, second));
    CHECK(cudaStreamWaitEvent(first, used, 0));
    CHECK(cudaFreeAsync(x, i % 2 == 0 ? first : second));
    CHECK(cudaStreamWaitEvent(first, used, 0));
  }
  int* kept = nullptr;
  CHECK(cudaMallocAsync(&kept, 256, first));
  CHECK(cudaStreamSynchronize(first));
  fill<<<1, 64, 0, second>>>(kept, 1);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(kept));
  EXPECT(values(y.data, 64)[5] == 6);
  CHECK(cudaEventDestroy(ready));
  CHECK(cudaEventDestroy(used));
  CHECK(cudaStreamDestroy(first));
  CHECK(cudaStreamDestroy(second));
}
