// CUB's temporary storage is reused without a barrier.
#include <cub/block/block_reduce.cuh>

#include "../planted.h"

__global__ void two_sums(const int* x, int* y) {
  using Reduce = cub::BlockReduce<int, 128>;
  __shared__ Reduce::TempStorage storage;
  const int first = Reduce(storage).Sum(x[threadIdx.x]);       // expect: race
  const int second = Reduce(storage).Sum(x[threadIdx.x] * 2);  // expect: race
  if (threadIdx.x == 0) *y = first + second;
}

int main() {
  Buffer<int> x(128), y(1);
  two_sums<<<1, 128>>>(x, y);
  return finish();
}
