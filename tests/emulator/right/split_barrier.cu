// Threads arrive at a cuda::barrier, work, and wait later.
#include <cuda/barrier>

#include "../planted.h"

__global__ void exchange(int* x) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int tile[64];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  tile[threadIdx.x] = threadIdx.x;
  auto token = barrier.arrive();
  const int own = x[threadIdx.x];
  barrier.wait(std::move(token));
  x[threadIdx.x] = own + tile[63 - threadIdx.x];
}

int main() {
  Buffer<int> x(64);
  exchange<<<1, 64>>>(x);
  return finish();
}
