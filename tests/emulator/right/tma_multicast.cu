// Gpu: h100
// The blocks of a cluster of 2 load half a tile each, for both, and add the tile to the output.
#include <cooperative_groups.h>

#include "../right.h"
#include "../tma.h"

namespace cg = cooperative_groups;

constexpr int kColumns = 32, kRows = 16;
constexpr int kHalf = kRows / 2 * kColumns;

__global__ void __cluster_dims__(2)
    spread(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
  __shared__ alignas(128) float tile[kRows * kColumns];
  __shared__ std::uint64_t ready;
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  if (threadIdx.x == 0) {
    make(&ready, 1);
    expect_bytes(&ready, sizeof tile);
  }
  cluster.sync();
  const int cluster_index = blockIdx.x / 2;
  if (threadIdx.x == 0) {
    load(&tile[rank * kHalf], from, cluster_index * kColumns, int(rank) * kRows / 2, &ready, 0b11);
  }
  wait(&ready, 0);
  for (int i = threadIdx.x; i < kRows * kColumns; i += blockDim.x) tile[i] += rank;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    const int coordinates[] = {cluster_index * kColumns, 0};
    ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &to,
                                     coordinates, tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
  }
  cluster.sync();
}

int main() {
  const int columns = 64, count = columns * kRows;
  Buffer<float> x(count), y(count);
  std::vector<float> input(count), expected(count);
  for (int i = 0; i < count; ++i) {
    input[i] = i;
    expected[i] = 2 * i + 1;
  }
  upload<float>(x, input);
  spread<<<4, 64>>>(map_of(x, columns, kRows, kColumns, kRows / 2),
                    map_of(y, columns, kRows, kColumns, kRows));
  settle();
  EXPECT(values<float>(y, count) == expected);
}
