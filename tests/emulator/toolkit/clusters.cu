// Thread block clusters: distributed shared memory through cooperative groups, for sm_90.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cuda/barrier>

#include "verify.h"

namespace cg = cooperative_groups;

// A histogram of 256 bins, of which each block of a cluster holds 64 in its shared memory.
__global__ void __cluster_dims__(4, 1, 1) histogram(const int* values, int* bins) {
  __shared__ int own[64];
  const cg::cluster_group cluster = cg::this_cluster();
  for (unsigned i = threadIdx.x; i < 64; i += blockDim.x) own[i] = 0;
  cluster.sync();
  const int value = values[blockIdx.x * blockDim.x + threadIdx.x];
  int* const bin = cluster.map_shared_rank(own, value / 64);
  atomicAdd(bin + value % 64, 1);
  cluster.sync();
  for (unsigned i = threadIdx.x; i < 64; i += blockDim.x) {
    atomicAdd(&bins[cluster.block_rank() * 64 + i], own[i]);
  }
}

// Each block passes its shared memory to the next one of its cluster.
__global__ void rotate(int* out) {
  extern __shared__ int mine[];
  const cg::cluster_group cluster = cg::this_cluster();
  mine[threadIdx.x] = static_cast<int>(blockIdx.x * 100 + threadIdx.x);
  cluster.barrier_wait(cluster.barrier_arrive());
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  const int* const other = cluster.map_shared_rank(mine, next);
  out[blockIdx.x * blockDim.x + threadIdx.x] =
      other[threadIdx.x] + static_cast<int>(1000000 * cluster.query_shared_rank(other));
  cluster.sync();
}

// The sum of a cluster's values, in every block: a reduction through a barrier in block 0.
__global__ void __cluster_dims__(2, 1, 1) sum(const float* values, float* sums) {
  __shared__ float parts[2];
  const cg::cluster_group cluster = cg::this_cluster();
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const float part = cg::reduce(warp, values[blockIdx.x * 32 + threadIdx.x], cg::plus<float>());
  cluster.sync();  // the other block has started
  if (threadIdx.x < 2) *cluster.map_shared_rank(&parts[cluster.block_rank()], threadIdx.x) = part;
  cluster.sync();
  if (threadIdx.x == 0) sums[blockIdx.x] = parts[0] + parts[1];
}

void check_histogram() {
  const int threads = 128, blocks = 16;
  int *values, *bins;
  SUCCEED(cudaMallocManaged(&values, threads * blocks * sizeof(int)));
  SUCCEED(cudaMallocManaged(&bins, 256 * sizeof(int)));
  std::vector<int> expected(256);
  for (int i = 0; i < threads * blocks; ++i) {
    values[i] = i * 7919 % 256;
    ++expected[values[i]];
  }
  SUCCEED(cudaMemset(bins, 0, 256 * sizeof(int)));
  histogram<<<blocks, threads>>>(values, bins);
  SUCCEED(cudaDeviceSynchronize());
  verify(std::equal(expected.begin(), expected.end(), bins), "histogram", threads * blocks);
  histogram<<<blocks + 1, threads>>>(values, bins);
  verify(cudaGetLastError() == cudaErrorInvalidClusterSize, "a grid of whole clusters", blocks + 1);
  SUCCEED(cudaFree(values));
  SUCCEED(cudaFree(bins));
}

void check_rotate(unsigned size) {
  const unsigned threads = 64, blocks = 16;
  int* out;
  SUCCEED(cudaMallocManaged(&out, threads * blocks * sizeof(int)));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {size, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = threads * sizeof(int);
  config.attrs = &attribute;
  config.numAttrs = 1;
  int clusters = 0, largest = 0;
  SUCCEED(cudaOccupancyMaxActiveClusters(&clusters, rotate, &config));
  SUCCEED(cudaOccupancyMaxPotentialClusterSize(&largest, rotate, &config));
  verify(clusters > 0 && largest == 8, "occupancy of clusters", size);
  SUCCEED(cudaLaunchKernelEx(&config, rotate, out));
  SUCCEED(cudaDeviceSynchronize());
  bool right = true;
  for (unsigned block = 0; block < blocks; ++block) {
    const unsigned rank = (block + 1) % size, next = block / size * size + rank;
    for (unsigned i = 0; i < threads; ++i) {
      right &= out[block * threads + i] == static_cast<int>(next * 100 + i + 1000000 * rank);
    }
  }
  verify(right, "rotate in clusters of", size);
  SUCCEED(cudaFree(out));
}

void check_sum() {
  float *values, *sums;
  SUCCEED(cudaMallocManaged(&values, 128 * sizeof(float)));
  SUCCEED(cudaMallocManaged(&sums, 4 * sizeof(float)));
  for (int i = 0; i < 128; ++i) values[i] = static_cast<float>(i);
  sum<<<4, 32>>>(values, sums);
  SUCCEED(cudaDeviceSynchronize());
  verify(sums[0] == 2016 && sums[1] == 2016 && sums[2] == 6112 && sums[3] == 6112, "sum", 128);
  SUCCEED(cudaFree(values));
  SUCCEED(cudaFree(sums));
}

int main() {
  check_histogram();
  for (const unsigned size : {1u, 2u, 4u, 8u}) check_rotate(size);
  check_sum();
  return exit_code();
}
