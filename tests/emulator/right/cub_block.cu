// CUB sums, scans and sorts within a block, with one temporary storage in a union.
#include <cub/cub.cuh>

#include "../right.h"

__global__ void block(int* x, int* sum, int* prefixes) {
  using Reduce = cub::BlockReduce<int, 128>;
  using Scan = cub::BlockScan<int, 128>;
  using Sort = cub::BlockRadixSort<int, 128, 2>;
  __shared__ union {
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan;
    typename Sort::TempStorage sort;
  } storage;
  int keys[2] = {x[2 * threadIdx.x], x[2 * threadIdx.x + 1]};
  const int total = Reduce(storage.reduce).Sum(keys[0] + keys[1]);
  if (threadIdx.x == 0) *sum = total;
  __syncthreads();
  int prefix;
  Scan(storage.scan).ExclusiveSum(1, prefix);
  prefixes[threadIdx.x] = prefix;
  __syncthreads();
  Sort(storage.sort).Sort(keys);
  x[2 * threadIdx.x] = keys[0];
  x[2 * threadIdx.x + 1] = keys[1];
}

int main() {
  std::vector<int> host(256);
  for (int i = 0; i < 256; ++i) host[i] = i * 77 % 256;
  Buffer<int> x(256), sum(1), prefixes(128);
  upload(x.data, host);
  block<<<1, 128>>>(x, sum, prefixes);
  settle();
  const auto out = values(x.data, 256);
  for (int i = 0; i < 256; ++i) EXPECT(out[i] == i);
  EXPECT(values(sum.data, 1)[0] == 255 * 128 && values(prefixes.data, 128)[99] == 99);
}
