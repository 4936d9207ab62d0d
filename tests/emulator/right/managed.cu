// Managed memory: the host writes, a kernel updates, the host reads after waiting; again.
#include "../right.h"

__managed__ int total;

__global__ void update(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  x[i] *= 2;
  atomicAdd(&total, x[i]);
}

int main() {
  int* x;
  CHECK(cudaMallocManaged(&x, 100 * sizeof(int)));
  for (int i = 0; i < 100; ++i) x[i] = i;
  for (int round = 1; round <= 3; ++round) {
    total = 0;
    update<<<4, 32>>>(x, 100);
    settle();
    EXPECT(total == 4950 * (1 << round) && x[99] == 99 << round);
    ++x[0], --x[0];
  }
  CHECK(cudaFree(x));
}
