// More than 48 KB of dynamic shared memory after cudaFuncSetAttribute; occupancy is asked.
#include "../right.h"

__global__ void reverse(const int* x, int* y, int n) {
  extern __shared__ int buffer[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) buffer[i] = x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = buffer[n - 1 - i];
}

int main() {
  const int n = 20000;
  int limit = 0, blocks = 0, grid = 0, block = 0;
  CHECK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  EXPECT(limit >= n * 4);
  CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, n * 4));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reverse, 256, n * 4));
  EXPECT(blocks >= 1);
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, reverse, 0, 0));
  EXPECT(block >= 32 && block <= 1024);
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, reverse));
  EXPECT(attributes.maxThreadsPerBlock >= 256);
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i;
  Buffer<int> x(n), y(n);
  upload(x.data, host);
  reverse<<<1, 256, n * 4>>>(x, y, n);
  settle();
  const auto out = values(y.data, n);
  for (int i = 0; i < n; ++i) EXPECT(out[i] == n - 1 - i);
}
