// A lock in shared memory that nothing has opened: its first exchange reads an unknown value.
#include "../planted.h"

__global__ void first_thread(int* winner) {
  __shared__ int taken;
  if (atomicExch(&taken, 1) == 0) *winner = threadIdx.x;  // expect: uninitialised
}

int main() {
  Buffer<int> winner(1);
  CHECK(cudaMemset(winner.data, 0, sizeof(int)));
  first_thread<<<1, 1>>>(winner.data);
  CHECK(cudaDeviceSynchronize());
}
