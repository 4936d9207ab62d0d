// Gpu: h100
// Warps wait at an mbarrier for one that computes in registers for long, with no access to memory.
#include "../right.h"
#include "../tma.h"

__global__ void wait_for_one(unsigned* y, int steps) {
  __shared__ std::uint64_t ready;
  __shared__ unsigned result;
  if (threadIdx.x == 0) make(&ready, 1);
  __syncthreads();
  if (threadIdx.x < 32) {
    unsigned state = threadIdx.x;
    for (int i = 0; i < steps; ++i) state = state * 1664525u + 1013904223u;
    if (threadIdx.x == 0) {
      result = state;
      ptx::mbarrier_arrive(&ready);
    }
  }
  wait(&ready, 0);
  y[threadIdx.x] = result;
}

int main() {
  const int threads = 512, steps = 400000;
  Buffer<unsigned> y(threads);
  wait_for_one<<<1, threads>>>(y, steps);
  settle();
  unsigned state = 0;
  for (int i = 0; i < steps; ++i) state = state * 1664525u + 1013904223u;
  EXPECT(values(y.data, threads) == std::vector<unsigned>(threads, state));
}
