// Tiles of several warps: cooperative groups keep their barriers in shared memory that CUDA
// reserves, apart from the block's own static and dynamic shared memory.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "../right.h"

namespace cg = cooperative_groups;

constexpr int kThreads = 256, kTile = 64;

__global__ void sums_of_tiles(const int* values, int* sums) {
  __shared__ cg::block_tile_memory<kThreads> scratch;
  __shared__ int first[kThreads];
  extern __shared__ int of_tile[];
  const auto block = cg::this_thread_block(scratch);
  const auto tile = cg::tiled_partition<kTile>(block);
  const int i = blockIdx.x * kThreads + threadIdx.x;
  first[threadIdx.x] = values[i];
  tile.sync();
  const int neighbour = first[threadIdx.x ^ (kTile / 2)];  // written by the other warp of the tile
  const int sum = cg::reduce(tile, neighbour, cg::plus<int>());
  if (tile.thread_rank() == 0) of_tile[tile.meta_group_rank()] = sum;
  block.sync();
  if (threadIdx.x < kThreads / kTile) {
    sums[blockIdx.x * kThreads / kTile + threadIdx.x] = of_tile[threadIdx.x];
  }
}

int main() {
  constexpr int kBlocks = 3;
  std::vector<int> input(kBlocks * kThreads);
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<int>(i);
  Buffer<int> in(input.size()), out(kBlocks * kThreads / kTile);
  upload(in.data, input);
  const std::size_t bytes = kThreads / kTile * sizeof(int);
  sums_of_tiles<<<kBlocks, kThreads, bytes>>>(in.data, out.data);
  settle();
  const auto sums = values(out.data, kBlocks * kThreads / kTile);
  for (int i = 0; i < kBlocks * kThreads / kTile; ++i) {
    EXPECT(sums[i] == kTile * kTile * i + kTile * (kTile - 1) / 2);
  }
}
