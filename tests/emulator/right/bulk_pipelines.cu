// Gpu: h100
// Tiles that go through shared memory by bulk copies in both directions, again and again.
#include <cooperative_groups.h>

#include "../right.h"
#include "../tma.h"

namespace cg = cooperative_groups;

constexpr int kCount = 256, kBytes = kCount * sizeof(float);

// Two warps fill tiles, and tell a third one by an mbarrier.
__global__ void filled_by_others(float* y, int tiles) {
  __shared__ alignas(128) float tile[2][kCount];
  __shared__ std::uint64_t filled[2];
  if (threadIdx.x == 0) {
    for (std::uint64_t& one : filled) make(&one, 64);
  }
  __syncthreads();
  for (int i = 0; i < tiles; ++i) {
    const int stage = i % 2;
    if (threadIdx.x == 64) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>{});
    __syncthreads();
    if (threadIdx.x < 64) {
      for (int k = threadIdx.x; k < kCount; k += 64) tile[stage][k] = i * kCount + k;
      ptx::fence_proxy_async(ptx::space_shared);
      ptx::mbarrier_arrive(&filled[stage]);
    } else if (threadIdx.x == 64) {
      wait(&filled[stage], i / 2 % 2);
      ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y + i * kCount, tile[stage], kBytes);
      ptx::cp_async_bulk_commit_group();
    }
  }
  if (threadIdx.x == 64) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
}

__global__ void doubled_in_place(float* x, int tiles) {
  __shared__ alignas(128) float tile[2][kCount];
  __shared__ std::uint64_t full[2];
  if (threadIdx.x == 0) {
    for (std::uint64_t& one : full) make(&one, 1);
  }
  __syncthreads();
  for (int i = 0; i < tiles; ++i) {
    const int stage = i % 2;
    float* const at = x + i * kCount;
    if (threadIdx.x == 0) {
      ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>{});
      expect_bytes(&full[stage], kBytes);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[stage], at, kBytes,
                         &full[stage]);
    }
    wait(&full[stage], i / 2 % 2);
    for (int k = threadIdx.x; k < kCount; k += blockDim.x) tile[stage][k] *= 2;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
      ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, at, tile[stage], kBytes);
      ptx::cp_async_bulk_commit_group();
    }
  }
  if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
}

// A copy that reads what another one has written.
__global__ void there_and_back(float* x, float* y) {
  __shared__ alignas(128) float tile[kCount];
  __shared__ std::uint64_t ready;
  if (threadIdx.x == 0) make(&ready, 1);
  for (int k = threadIdx.x; k < kCount; k += blockDim.x) tile[k] = k;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, x, tile, kBytes);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
    expect_bytes(&ready, kBytes);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, x, kBytes, &ready);
  }
  wait(&ready, 0);
  for (int k = threadIdx.x; k < kCount; k += blockDim.x) y[k] = tile[k];
}

// Two blocks exchange tiles; the source is filled again once the other block has it.
__global__ void __cluster_dims__(2, 1, 1) exchanged(float* y, int rounds) {
  __shared__ alignas(128) float mine[32], theirs[32];
  __shared__ std::uint64_t ready;
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) make(&ready, 1);
  cluster.sync();
  for (int i = 0; i < rounds; ++i) {
    mine[threadIdx.x] = i * 100 + threadIdx.x;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncwarp();
    if (threadIdx.x == 0) {
      expect_bytes(&ready, sizeof theirs);
      asm volatile(
          "{ .reg .b32 to, ready;"
          " mapa.shared::cluster.u32 to, %0, %3; mapa.shared::cluster.u32 ready, %1, %3;"
          " cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [to], [%2], 128,"
          " [ready]; }" ::"r"(unsigned(__cvta_generic_to_shared(theirs))),
          "r"(unsigned(__cvta_generic_to_shared(&ready))),
          "r"(unsigned(__cvta_generic_to_shared(mine))), "r"(cluster.block_rank() ^ 1)
          : "memory");
    }
    wait(&ready, i % 2);
    y[blockIdx.x * 32 + threadIdx.x] = theirs[threadIdx.x];
    cluster.sync();
  }
}

int main() {
  constexpr int kTiles = 9;
  Buffer<float> x(kTiles * kCount), y(kCount), z(64);
  std::vector<float> expected(kTiles * kCount);
  for (int i = 0; i < kTiles * kCount; ++i) expected[i] = 2 * i;
  filled_by_others<<<1, 96>>>(x, kTiles);
  doubled_in_place<<<1, 64>>>(x, kTiles);
  settle();
  EXPECT(values<float>(x, kTiles * kCount) == expected);
  there_and_back<<<1, 64>>>(x, y);
  settle();
  EXPECT(values<float>(y, kCount)[255] == 255);
  exchanged<<<2, 32>>>(z, 3);
  settle();
  EXPECT(values<float>(z, 64)[33] == 201);
}
