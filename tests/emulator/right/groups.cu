// Tiles, coalesced threads and group reductions.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "../right.h"

namespace cg = cooperative_groups;

__global__ void groups(int* sums, int* odd, int* prefixes) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  const int i = block.thread_rank();
  const int sum = cg::reduce(tile, i, cg::plus<int>());
  if (tile.thread_rank() == 0) sums[i / 8] = sum;
  prefixes[i] = cg::inclusive_scan(tile, 1);
  if (i % 3 == 0) {
    auto active = cg::coalesced_threads();
    int place = 0;
    if (active.thread_rank() == 0) place = atomicAdd(odd, int(active.size()));
    place = active.shfl(place, 0) + active.thread_rank();
    odd[1 + place] = i;
  }
}

int main() {
  Buffer<int> sums(16), odd(64), prefixes(128);
  groups<<<1, 128>>>(sums, odd, prefixes);
  settle();
  const auto s = values(sums.data, 16), o = values(odd.data, 64), p = values(prefixes.data, 128);
  for (int i = 0; i < 16; ++i) EXPECT(s[i] == 64 * i + 28);
  EXPECT(o[0] == 43);
  int total = 0;
  for (int i = 1; i <= 43; ++i) total += o[i];
  EXPECT(total == 3 * 42 * 43 / 2);
  for (int i = 0; i < 128; ++i) EXPECT(p[i] == i % 8 + 1);
}
