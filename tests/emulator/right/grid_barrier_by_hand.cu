// A barrier of the whole grid made by hand: a counter, a sense that flips, volatile reads, fences.
#include "../right.h"

__device__ unsigned arrived;
__device__ volatile unsigned generation;

__device__ void grid_barrier() {
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned mine = generation;
    __threadfence();
    if (atomicAdd(&arrived, 1) == gridDim.x - 1) {
      arrived = 0;
      __threadfence();
      generation = mine + 1;
    } else {
      while (generation == mine) {
      }
    }
    __threadfence();
  }
  __syncthreads();
}

__global__ void diffuse(int* x, int* y, int rounds) {
  const int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < rounds; ++round) {
    y[i] = x[(i + 1) % n];
    grid_barrier();
    x[i] = y[i];
    grid_barrier();
  }
}

int main() {
  const int n = 8 * 64;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i;
  Buffer<int> x(n), y(n);
  upload(x.data, host);
  diffuse<<<8, 64>>>(x, y, 3);
  settle();
  const auto out = values(x.data, n);
  for (int i = 0; i < n; ++i) EXPECT(out[i] == (i + 3) % n);
}
