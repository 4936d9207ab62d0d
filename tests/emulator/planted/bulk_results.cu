// Gpu: h100
// Results of bulk copies that are used before cp.async.bulk.wait_group, and sources that change.
#include <cooperative_groups.h>

#include "../planted.h"
#include "../tma.h"

namespace cg = cooperative_groups;

constexpr int kCount = 256, kThreads = 64;

/// Fills a tile and copies it; waits only until the copy has read the tile.
__device__ void store_tile(float* tile, float* y) {
  for (int i = threadIdx.x; i < kCount; i += kThreads) tile[i] = i;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x != 0) return;
  ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y, tile, kCount * sizeof(float));
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

__global__ void reads_back(float* y, float* z) {
  __shared__ alignas(128) float tile[kCount];
  store_tile(tile, y);
  if (threadIdx.x == 0) *z = y[5];  // expect wait_read_by_thread: async-copy
}

__global__ void others_read(float* y, float* z) {
  __shared__ alignas(128) float tile[kCount];
  store_tile(tile, y);
  __syncthreads();
  z[threadIdx.x] = y[threadIdx.x];  // expect wait_read_by_others: async-copy
}

__global__ void published(float* y, float* z, int* flag) {
  __shared__ alignas(128) float tile[kCount];
  if (blockIdx.x == 0) {
    store_tile(tile, y);
    __threadfence();
    if (threadIdx.x == 0) atomicExch(flag, 1);
  } else if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    *z = y[5];  // expect wait_read_by_blocks: async-copy
  }
}

/// Copies `bytes` bytes into the same place of the other block of the cluster.
__device__ void send(void* to, std::uint64_t* ready, const void* from, unsigned bytes) {
  asm volatile(
      "{ .reg .b32 to, ready;"
      " mapa.shared::cluster.u32 to, %0, %4; mapa.shared::cluster.u32 ready, %1, %4;"
      " cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [to], [%2], %3, "
      "[ready]; }" ::"r"(unsigned(__cvta_generic_to_shared(to))),
      "r"(unsigned(__cvta_generic_to_shared(ready))), "r"(unsigned(__cvta_generic_to_shared(from))),
      "r"(bytes), "r"(cg::this_cluster().block_rank() ^ 1)
      : "memory");
}

__global__ void __cluster_dims__(2, 1, 1) source_changed(float* y) {
  __shared__ alignas(128) float mine[32], theirs[32];
  __shared__ std::uint64_t ready;
  if (threadIdx.x == 0) {
    make(&ready, 1);
    expect_bytes(&ready, sizeof theirs);
  }
  mine[threadIdx.x] = threadIdx.x;
  ptx::fence_proxy_async(ptx::space_shared);
  cg::this_cluster().sync();
  if (threadIdx.x == 0) send(theirs, &ready, mine, sizeof mine);
  __syncwarp();
  mine[threadIdx.x] = 5;  // expect source_changed: race
  wait(&ready, 0);
  y[blockIdx.x * 32 + threadIdx.x] = theirs[threadIdx.x] + mine[threadIdx.x];
  cg::this_cluster().sync();
}

// A wait of block scope does not order the block after stores of another one.
__global__ void __cluster_dims__(2, 1, 1) wait_of_block(float* y) {
  __shared__ float mine[32];
  __shared__ std::uint64_t ready;
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) make(&ready, 32);
  cluster.sync();
  const unsigned other = cluster.block_rank() ^ 1;
  cluster.map_shared_rank(mine, other)[threadIdx.x] = threadIdx.x;
  asm volatile(
      "{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;"
      " mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there]; }" ::"r"(
          unsigned(__cvta_generic_to_shared(&ready))),
      "r"(other)
      : "memory");
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, &ready, 0)) {
  }
  y[blockIdx.x * 32 + threadIdx.x] = mine[threadIdx.x];  // expect wait_of_block: race
  cluster.sync();
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"wait_read_by_thread",
                    [] {
                      Buffer<float> y(kCount), z(1);
                      reads_back<<<1, kThreads>>>(y, z);
                      finish();
                    }},
                   {"wait_read_by_others",
                    [] {
                      Buffer<float> y(kCount), z(kThreads);
                      others_read<<<1, kThreads>>>(y, z);
                      finish();
                    }},
                   {"wait_read_by_blocks",
                    [] {
                      Buffer<float> y(kCount), z(1);
                      Buffer<int> flag(1);
                      published<<<2, kThreads>>>(y, z, flag);
                      finish();
                    }},
                   {"source_changed",
                    [] {
                      Buffer<float> y(64);
                      source_changed<<<2, 32>>>(y);
                      finish();
                    }},
                   {"wait_of_block", [] {
                      Buffer<float> y(64);
                      wait_of_block<<<2, 32>>>(y);
                      finish();
                    }}});
}
