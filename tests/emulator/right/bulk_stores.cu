// Gpu: h100
// Tiles in shared memory that bulk copies store, and that are filled again once they were read.
#include "../right.h"
#include "../tma.h"

constexpr int kColumns = 32, kRows = 8, kElements = kColumns * kRows;

// Two tiles in turn: one may be under way while the other is filled.
__global__ void two_tiles(const __grid_constant__ CUtensorMap map, int count) {
  __shared__ alignas(128) float tile[2][kElements];
  for (int i = 0; i < count; ++i) {
    if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>{});
    __syncthreads();
    for (int k = threadIdx.x; k < kElements; k += blockDim.x) {
      tile[i % 2][k] = i * kElements + k;
    }
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
      store(tile[i % 2], map, 0, i * kRows);
      ptx::cp_async_bulk_commit_group();
    }
  }
  if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
}

// Each warp stores a row of its own; its first lane waits for it.
__global__ void rows_of_warps(float* y, int count) {
  __shared__ alignas(128) float rows[4][kColumns];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = 0; i < count; ++i) {
    const int row = i * 4 + warp;
    rows[warp][lane] = row * kColumns + lane;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncwarp();
    if (lane == 0) {
      ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y + row * kColumns, rows[warp],
                         sizeof rows[warp]);
      ptx::cp_async_bulk_commit_group();
      ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
    }
    __syncwarp();
  }
  if (lane == 0) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
}

int main() {
  const int count = 5;
  Buffer<float> y(count * kElements), z(count * 4 * kColumns);
  std::vector<float> expected(count * kElements);
  for (int i = 0; i < count * kElements; ++i) expected[i] = i;
  two_tiles<<<1, 128>>>(map_of(y, kColumns, count * kRows, kColumns, kRows), count);
  rows_of_warps<<<1, 128>>>(z, count);
  settle();
  EXPECT(values<float>(y, count * kElements) == expected);
  expected.resize(count * 4 * kColumns);
  EXPECT(values<float>(z, count * 4 * kColumns) == expected);
}
