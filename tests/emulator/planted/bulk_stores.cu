// Gpu: h100
// Bulk copies to global memory whose tile in shared memory is overwritten too early.
#include "../planted.h"
#include "../tma.h"

constexpr int kColumns = 32, kRows = 8, kElements = kColumns * kRows;

__device__ void fill(float* tile, float value) {
  for (int i = threadIdx.x; i < kElements; i += blockDim.x) {
    tile[i] = value;  // expect tile_no_wait: race
    // expect tile_wait_by_others: race
    // expect too_many_groups: race
  }
}

/// Waits for all groups but the last `Pending`, and lets the other threads know.
template <int Pending>
__device__ void wait_and_meet() {
  if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<Pending>{});
  __syncthreads();
}

enum class Mistake { no_wait, wait_by_others, too_many_groups };

template <Mistake What>
__global__ void tiles(const __grid_constant__ CUtensorMap map, int count) {
  __shared__ alignas(128) float tile[kElements];
  for (int i = 0; i < count; ++i) {
    fill(tile, i);
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
      store(tile, map, 0, i * kRows);
      ptx::cp_async_bulk_commit_group();
    }
    if (What == Mistake::wait_by_others && threadIdx.x != 0) {
      ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
    }
    if (What == Mistake::too_many_groups) wait_and_meet<1>();
    __syncthreads();
  }
  wait_and_meet<0>();
}

// The thread that issued the copy waits only after the barrier that lets the others store.
__global__ void wait_after_barrier(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) float tile[kElements];
  for (int i = threadIdx.x; i < kElements; i += blockDim.x) tile[i] = i;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    store(tile, map, 0, 0);
    ptx::cp_async_bulk_commit_group();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
  } else {
    tile[threadIdx.x] = 1;  // expect wait_after_barrier: race
  }
}

// A copy without a tensor map, and a tile that the next bulk load fills.
__global__ void loaded_over(const float* x, float* y) {
  __shared__ alignas(128) float tile[kElements];
  __shared__ std::uint64_t ready;
  if (threadIdx.x != 0) return;
  make(&ready, 1);
  for (int i = 0; i < 2; ++i) {
    expect_bytes(&ready, sizeof tile);
    // clang-format off
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, x + i * kElements, sizeof tile, &ready);  // expect loaded_over: race
    // clang-format on
    wait(&ready, i);
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y + i * kElements, tile, sizeof tile);
    ptx::cp_async_bulk_commit_group();
  }
  ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
}

__global__ void never_waits(float* y) {
  __shared__ alignas(128) float tile[kElements];
  for (int i = threadIdx.x; i < kElements; i += blockDim.x) tile[i] = i;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x != 0) return;
  // clang-format off
  ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y, tile, sizeof tile);  // expect never_waits: note-async-copy
  // clang-format on
  ptx::cp_async_bulk_commit_group();
}

template <Mistake What>
void run_tiles() {
  Buffer<float> y(4 * kElements);
  tiles<What><<<1, 64>>>(map_of(y, kColumns, 4 * kRows, kColumns, kRows), 4);
  finish();
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"tile_no_wait", run_tiles<Mistake::no_wait>},
                   {"tile_wait_by_others", run_tiles<Mistake::wait_by_others>},
                   {"too_many_groups", run_tiles<Mistake::too_many_groups>},
                   {"wait_after_barrier",
                    [] {
                      Buffer<float> y(kElements);
                      wait_after_barrier<<<1, 64>>>(map_of(y, kColumns, kRows, kColumns, kRows));
                      finish();
                    }},
                   {"loaded_over",
                    [] {
                      Buffer<float> x(2 * kElements), y(2 * kElements);
                      loaded_over<<<1, 32>>>(x, y);
                      finish();
                    }},
                   {"never_waits", [] {
                      Buffer<float> y(kElements);
                      never_waits<<<1, 32>>>(y);
                      finish();
                    }}});
}
