// cuda::barrier with arrive and wait apart: work of one's own lies between.
#include <cuda/barrier>

#include "../right.h"

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void rotate(int* x, int rounds) {
  __shared__ int buffer[2][64];
  __shared__ Barrier barrier;
  const int t = threadIdx.x;
  if (t == 0) init(&barrier, blockDim.x);
  __syncthreads();
  int value = x[t], own = 0;
  for (int round = 0; round < rounds; ++round) {
    buffer[round % 2][t] = value;
    auto token = barrier.arrive();
    own += round;
    barrier.wait(std::move(token));
    value = buffer[round % 2][(t + 1) % 64];
  }
  x[t] = value + own;
}

int main() {
  std::vector<int> host(64);
  for (int i = 0; i < 64; ++i) host[i] = i;
  Buffer<int> x(64);
  upload(x.data, host);
  rotate<<<1, 64>>>(x, 5);
  settle();
  const auto out = values(x.data, 64);
  for (int i = 0; i < 64; ++i) EXPECT(out[i] == (i + 5) % 64 + 10);
}
