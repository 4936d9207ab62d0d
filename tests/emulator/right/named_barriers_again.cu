// Two halves of a block use one named barrier, one after the other, and then barriers of their own.
#include "../right.h"

__device__ void meet(int barrier) { asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory"); }

__global__ void reverse_halves(const int* x, int* y) {
  __shared__ int tile[128];
  const int i = threadIdx.x, half = i / 64, mirrored = half * 64 + 63 - i % 64;
  for (int turn = 0; turn < 2; ++turn) {
    if (turn == half) {
      tile[i] = x[i];
      meet(1);
      y[i] = tile[mirrored];
    }
    __syncthreads();
  }
  tile[i] = y[i];
  meet(1 + half);
  y[i] += tile[mirrored];
}

int main() {
  std::vector<int> host(128);
  for (int i = 0; i < 128; ++i) host[i] = i * i;
  Buffer<int> x(128), y(128);
  upload(x.data, host);
  reverse_halves<<<1, 128>>>(x, y);
  settle();
  const auto out = values(y.data, 128);
  for (int i = 0; i < 128; ++i) {
    EXPECT(out[i] == host[i] + host[i / 64 * 64 + 63 - i % 64]);
  }
}
