// CUB's temporary storage is reused after a barrier.
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "../right.h"

__global__ void two_sums(const int* x, int* y) {
  using Reduce = cub::BlockReduce<int, 128>;
  using Scan = cub::BlockScan<int, 128>;
  __shared__ union {
    Reduce::TempStorage reduce;
    Scan::TempStorage scan;
  } storage;
  const int first = Reduce(storage.reduce).Sum(x[threadIdx.x]);
  __syncthreads();
  const int second = Reduce(storage.reduce).Sum(x[threadIdx.x] * 2);
  __syncthreads();
  int before = 0;
  Scan(storage.scan).ExclusiveSum(x[threadIdx.x], before);
  if (threadIdx.x == 0) y[128] = first + second;
  y[threadIdx.x] = before;
}

int main() {
  Buffer<int> x(128), y(129);
  upload(x.data, std::vector<int>(128, 1));
  two_sums<<<1, 128>>>(x, y);
  settle();
  EXPECT(values(y.data, 129)[128] == 384);
  EXPECT(values(y.data, 129)[100] == 100);
}
