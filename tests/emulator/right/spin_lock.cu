// A spin lock by atomicCAS and fences guards a plain counter, one thread of each block.
#include "../right.h"

__device__ int lock, counter;

__global__ void count(int rounds) {
  if (threadIdx.x != 0) return;
  for (int round = 0; round < rounds; ++round) {
    while (atomicCAS(&lock, 0, 1) != 0) __nanosleep(20);
    __threadfence();
    ++counter;
    __threadfence();
    atomicExch(&lock, 0);
  }
}

int main() {
  count<<<12, 64>>>(5);
  settle();
  int host = 0;
  CHECK(cudaMemcpyFromSymbol(&host, counter, sizeof(host)));
  EXPECT(host == 60);
}
