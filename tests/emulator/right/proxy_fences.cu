// Gpu: h100
// The places in which a fence between stores and a bulk copy may stand.
#include <cooperative_groups.h>
#include <cuda/barrier>

#include "../right.h"
#include "../tma.h"

namespace cg = cooperative_groups;

constexpr int kCount = 256, kThreads = 64;

enum class Fence { by_writers, by_issuer, by_all, by_one_before_barrier };

template <Fence Where>
__global__ void stores_tile(float* y) {
  __shared__ alignas(128) float tile[kCount];
  for (int i = threadIdx.x; i < kCount; i += kThreads) tile[i] = i;
  if (Where == Fence::by_writers) ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (Where == Fence::by_issuer && threadIdx.x == 0) ptx::fence_proxy_async(ptx::space_shared);
  if (Where == Fence::by_all) ptx::fence_proxy_async(ptx::space_shared);
  if (Where == Fence::by_one_before_barrier) {
    if (threadIdx.x == 33) ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y, tile, sizeof tile);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

// fence.proxy.async after mbarrier.init, as in the CUDA programming guide; another thread copies.
__global__ void loads_tile(float* x, float* y) {
  __shared__ alignas(128) float tile[kCount];
  __shared__ std::uint64_t ready;
  for (int i = threadIdx.x; i < kCount; i += kThreads) x[i] = 2 * i;
  if (threadIdx.x == 0) ptx::mbarrier_init(&ready, 1);
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 32) {
    expect_bytes(&ready, sizeof tile);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, x, sizeof tile, &ready);
  }
  wait(&ready, 0);
  for (int i = threadIdx.x; i < kCount; i += kThreads) y[i] = tile[i];
}

// The examples of cuda::memcpy_async have no fence. On sm_90 it makes bulk copies.
__global__ void copies_by_library(const float* x, float* y) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ alignas(16) float tile[kCount];
  const auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&barrier, block.size());
  block.sync();
  cuda::memcpy_async(block, tile, x, cuda::aligned_size_t<16>(sizeof tile), barrier);
  barrier.arrive_and_wait();
  for (int i = threadIdx.x; i < kCount; i += kThreads) y[i] = tile[i];
}

// As CUTLASS does it: a fence after the inits, a relaxed arrival at the cluster's barrier, and
// waits at mbarriers without a scope.
__global__ void __cluster_dims__(2, 1, 1) multicast(const float* x, float* y) {
  __shared__ alignas(128) float tile[kCount];
  __shared__ std::uint64_t full, empty;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::mbarrier_init(&empty, 2);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;" ::
                   : "memory");
  const unsigned rank = cg::this_cluster().block_rank();
  const auto address = unsigned(__cvta_generic_to_shared(&empty));
  for (int i = 0; i < 3; ++i) {
    if (threadIdx.x == 0) {
      expect_bytes(&full, sizeof tile);
      if (rank == 0) {
        if (i > 0) wait(&empty, (i - 1) % 2);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, x, sizeof tile, &full,
                           std::uint16_t(3));
      }
    }
    wait(&full, i % 2);
    for (int k = threadIdx.x; k < kCount; k += kThreads) y[rank * kCount + k] = tile[k];
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile(
          "{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, 0;"
          " mbarrier.arrive.shared::cluster.b64 _, [there]; }" ::"r"(address)
          : "memory");
    }
  }
  cg::this_cluster().sync();
}

int main() {
  Buffer<float> x(kCount), y(2 * kCount);
  std::vector<float> expected(kCount);
  for (int i = 0; i < kCount; ++i) expected[i] = i;
  const auto check = [&](const float* at) {
    settle();
    EXPECT(values<float>(at, kCount) == expected);
    CHECK(cudaMemset(y, 0, 2 * kCount * sizeof(float)));
  };
  stores_tile<Fence::by_writers><<<1, kThreads>>>(y);
  check(y);
  stores_tile<Fence::by_issuer><<<1, kThreads>>>(y);
  check(y);
  stores_tile<Fence::by_all><<<1, kThreads>>>(y);
  check(y);
  stores_tile<Fence::by_one_before_barrier><<<1, kThreads>>>(y);
  check(y);
  for (float& value : expected) value *= 2;
  loads_tile<<<1, kThreads>>>(x, y);
  check(y);
  copies_by_library<<<1, kThreads>>>(x, y);
  check(y);
  multicast<<<2, kThreads>>>(x, y);
  check(y + kCount);
}
