// Blocks on several host threads sum into one variable, which block 0 clears between 1000 grid
// barriers.
#include <cooperative_groups.h>

#include "../right.h"

namespace cg = cooperative_groups;

__global__ void sums(double* sum, double* last, int rounds) {
  const auto grid = cg::this_grid();
  for (int round = 0; round < rounds; ++round) {
    if (grid.thread_rank() == 0) *sum = 0;
    grid.sync();
    if (threadIdx.x == 0) atomicAdd(sum, blockIdx.x + 1.0);
    grid.sync();
    last[grid.thread_rank()] = *sum;
    grid.sync();
  }
}

int main() {
  constexpr int kBlocks = 8, kThreads = 32;
  Buffer<double> sum(1), last(kBlocks * kThreads);
  int rounds = 1000;
  void* arguments[] = {&sum.data, &last.data, &rounds};
  CHECK(cudaLaunchCooperativeKernel((void*)sums, kBlocks, kThreads, arguments, 0, nullptr));
  settle();
  for (const double value : values(last.data, kBlocks * kThreads)) {
    EXPECT(value == kBlocks * (kBlocks + 1) / 2);
  }
}
