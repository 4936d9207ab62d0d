// Chunks pass through two pinned staging buffers, reused after their event.
#include "../right.h"

__global__ void square(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= x[i];
}

int main() {
  const int chunk = 100, chunks = 7;
  int* staging[2];
  int* out;
  cudaStream_t streams[2];
  cudaEvent_t free_again[2];
  for (int k = 0; k < 2; ++k) {
    CHECK(cudaMallocHost(&staging[k], chunk * sizeof(int)));
    CHECK(cudaStreamCreate(&streams[k]));
    CHECK(cudaEventCreate(&free_again[k]));
  }
  CHECK(cudaHostAlloc(&out, chunk * chunks * sizeof(int), cudaHostAllocDefault));
  Buffer<int> x(chunk * chunks);
  for (int c = 0; c < chunks; ++c) {
    const int k = c % 2;
    CHECK(cudaEventSynchronize(free_again[k]));
    for (int i = 0; i < chunk; ++i) staging[k][i] = c * chunk + i;
    int* part = x.data + c * chunk;
    CHECK(cudaMemcpyAsync(part, staging[k], chunk * 4, cudaMemcpyHostToDevice, streams[k]));
    CHECK(cudaEventRecord(free_again[k], streams[k]));
    square<<<2, 64, 0, streams[k]>>>(part, chunk);
    CHECK(cudaMemcpyAsync(out + c * chunk, part, chunk * 4, cudaMemcpyDeviceToHost, streams[k]));
  }
  settle();
  for (int i = 0; i < chunk * chunks; ++i) EXPECT(out[i] == i * i);
  float milliseconds;
  CHECK(cudaEventElapsedTime(&milliseconds, free_again[0], free_again[1]));
  for (int k = 0; k < 2; ++k) {
    CHECK(cudaFreeHost(staging[k]));
    CHECK(cudaStreamDestroy(streams[k]));
    CHECK(cudaEventDestroy(free_again[k]));
  }
  CHECK(cudaFreeHost(out));
}
