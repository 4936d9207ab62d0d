// Work forks to three streams and joins by events; the default stream is not used.
#include "../right.h"

__global__ void fill(int* x, int value) { x[threadIdx.x] = value; }
__global__ void add(int* x, const int* y) { x[threadIdx.x] += y[threadIdx.x]; }

int main() {
  Buffer<int> a(64), b(64), c(64);
  cudaStream_t streams[3];
  cudaEvent_t fork, joins[2];
  for (auto& s : streams) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  for (auto& e : joins) CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  CHECK(cudaDeviceSynchronize());
  fill<<<1, 64, 0, streams[0]>>>(a, 1);
  CHECK(cudaEventRecord(fork, streams[0]));
  int* others[] = {b, c};
  for (int k = 0; k < 2; ++k) {
    CHECK(cudaStreamWaitEvent(streams[1 + k], fork, 0));
    fill<<<1, 64, 0, streams[1 + k]>>>(others[k], 10 * (k + 1));
    add<<<1, 64, 0, streams[1 + k]>>>(others[k], a);
    CHECK(cudaEventRecord(joins[k], streams[1 + k]));
  }
  for (auto& e : joins) CHECK(cudaStreamWaitEvent(streams[0], e, 0));
  for (int k = 0; k < 2; ++k) {
    add<<<1, 64, 0, streams[0]>>>(a, others[k]);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaStreamSynchronize(streams[0]));
  EXPECT(values(a.data, 64)[63] == 1 + 11 + 21);
  for (auto& s : streams) CHECK(cudaStreamDestroy(s));
  CHECK(cudaEventDestroy(fork));
  for (auto& e : joins) CHECK(cudaEventDestroy(e));
}
