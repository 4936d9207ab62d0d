// Shuffles, votes and warp barriers whose mask or lanes are wrong.
#include <cooperative_groups.h>

#include "../planted.h"

namespace cg = cooperative_groups;

__global__ void full_mask(const int* x, int* y, int n) {
  const int i = threadIdx.x;
  if (i < n) {
    int sum = x[i];
    for (int lanes = 16; lanes > 0; lanes /= 2)
      sum += __shfl_down_sync(0xffffffff, sum, lanes);  // expect full_mask: warp-sync
    y[i] = sum;
  }
  __syncwarp();
  if (i == 0) y[0] += n;
}

__global__ void exited(const int* x, int* y, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  y[i] = __shfl_xor_sync(0xffffffff, x[i], 16);  // expect exited: warp-sync
}

__global__ void short_block(const int* x, int* y) {
  int sum = x[threadIdx.x];
  for (int lanes = 16; lanes > 0; lanes /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, lanes);  // expect short_block: warp-sync
  if (threadIdx.x == 0) *y = sum;
}

__global__ void half_mask(const int* x, int* y) {
  const unsigned lower = 0x0000ffff;
  y[threadIdx.x] = __shfl_sync(lower, x[threadIdx.x], 0);  // expect half_mask: warp-sync
}

__global__ void absent_source(const int* x, int* y) {
  const unsigned even = 0x55555555;
  if (threadIdx.x % 2 == 0)
    y[threadIdx.x] = __shfl_down_sync(even, x[threadIdx.x], 1);  // expect absent_source: warp-sync
}

__global__ void broadcast(const int* x, int* y) {
  const bool positive = x[threadIdx.x] >= 5;
  const unsigned mask = __ballot_sync(0xffffffff, positive);
  if (positive)
    y[threadIdx.x] = __shfl_sync(mask, x[threadIdx.x], 0);  // expect broadcast: warp-sync
}

__global__ void vote(const int* x, int* y, int n) {
  const int i = threadIdx.x;
  if (i % 2 == 0) {
    y[i] = __any_sync(0xffffffff, x[i] > n);  // expect vote: warp-sync
  } else {
    y[i] = __all_sync(0xffffffff, x[i] > n);  // expect vote: warp-sync
  }
}

__global__ void match(const int* x, int* y) {
  const int i = threadIdx.x;
  if (i >= 8) y[i] = __match_any_sync(0x00ffff00, x[i]);  // expect match: warp-sync
}

__global__ void reduce(const int* x, int* y) {
  const int i = threadIdx.x;
  if (i < 20) y[i] = __reduce_add_sync(0x0000ffff, x[i]);  // expect reduce: warp-sync
}

__global__ void sync_mask(const int* x, int* y) {
  __shared__ int tile[32];
  const int i = threadIdx.x;
  tile[i] = x[i];
  __syncwarp(0x0000ffff);  // expect sync_mask: warp-sync
  y[i] = tile[i ^ 1];
}

__global__ void active_guess(const int* x, int* y) {
  const int i = threadIdx.x;
  if (x[i] % 2 == 0) {
    const unsigned mask = 0xffffffff;
    if (x[i] % 4 == 0) {
      __syncwarp(mask);  // expect nested_sync: warp-sync
      y[i] = 1;
    }
    if (x[i] % 4 == 2) {
      y[i] = __shfl_sync(mask, x[i], 0);  // expect nested_sync: warp-sync
    }
  }
}

__global__ void tile_in_branch(const int* x, int* y) {
  const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int i = threadIdx.x;
  y[i] = 0;
  if (i < 24) y[i] = warp.shfl(x[i], 30);  // expect tile_in_branch: warp-sync
}

using Integers = Buffer<int>;

template <class Kernel, class... More>
void run(int threads, Kernel kernel, More... more) {
  Integers x(64), y(64);
  int host[64];
  for (int i = 0; i < 64; ++i) host[i] = i;
  CHECK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
  kernel<<<1, threads>>>(x, y, more...);
  finish();
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"full_mask", [] { run(32, full_mask, 20); }},
                   {"exited", [] { run(32, exited, 20); }},
                   {"short_block", [] { run(48, short_block); }},
                   {"half_mask", [] { run(32, half_mask); }},
                   {"absent_source", [] { run(32, absent_source); }},
                   {"broadcast", [] { run(32, broadcast); }},
                   {"vote", [] { run(32, vote, 3); }},
                   {"match", [] { run(32, match); }},
                   {"reduce", [] { run(32, reduce); }},
                   {"sync_mask", [] { run(32, sync_mask); }},
                   {"nested_sync", [] { run(32, active_guess); }},
                   {"tile_in_branch", [] { run(32, tile_in_branch); }}});
}
