// Products of warpgroups without the fences and waits that they need. Gpu: h100
#include "../planted.h"
#include "../wgmma.h"

struct Tiles {
  __half a[2][kTile * kTile], b[2][kTile * kTile];
};

__global__ void stored_before_wait(const __half* x, float* c) {
  __shared__ __align__(1024) Tiles tiles;
  float d[32] = {};
  load_tile(tiles.a[0], x, kTile, 0);
  load_tile(tiles.b[0], x, kTile, 0);
  fence_proxy();
  __syncthreads();
  fence_registers();
  multiply_tiles(d, tiles.a[0], tiles.b[0]);
  commit();
  __syncthreads();
  tiles.b[0][threadIdx.x] = __half(1);  // expect stored_before_wait: race
  wait<0>();
  store_product(c, d);
}

__global__ void stage_under_way(const __half* x, float* c) {
  __shared__ __align__(1024) Tiles tiles;
  float d[32] = {};
  for (int i = 0; i < 4; ++i) {
    for (int k = threadIdx.x; k < kTile * kTile; k += 128) {
      element(tiles.a[i % 2], k / kTile, k % kTile) = x[k];  // expect stage_under_way: race
      element(tiles.b[i % 2], k / kTile, k % kTile) = x[k];  // expect stage_under_way: race
    }
    fence_proxy();
    __syncthreads();
    fence_registers();
    multiply_tiles(d, tiles.a[i % 2], tiles.b[i % 2]);
    commit();
    wait<2>();  // two groups may stay under way, but there are two stages
    __syncthreads();
  }
  wait<0>();
  store_product(c, d);
}

__global__ void read_before_wait(const __half* x, float* c) {
  __shared__ __align__(1024) Tiles tiles;
  float d[32] = {};
  load_tile(tiles.a[0], x, kTile, 0);
  load_tile(tiles.b[0], x, kTile, 0);
  fence_proxy();
  __syncthreads();
  fence_registers();
  multiply_tiles(d, tiles.a[0], tiles.b[0]);
  commit();
  c[threadIdx.x] = d[0] + d[1];  // expect read_before_wait: async-copy
  wait<0>();
}

__global__ void proxy_fence_missing(const __half* x, float* c) {
  __shared__ __align__(1024) Tiles tiles;
  float d[32] = {};
  for (int k = threadIdx.x; k < kTile * kTile; k += 128) {
    element(tiles.a[0], k / kTile, k % kTile) = x[k];  // expect proxy_fence_missing: race
    element(tiles.b[0], k / kTile, k % kTile) = x[k];  // expect proxy_fence_missing: race
  }
  __syncthreads();
  fence_registers();
  multiply_tiles(d, tiles.a[0], tiles.b[0]);
  commit();
  wait<0>();
  store_product(c, d);
}

__global__ void no_barrier(const __half* x, float* c) {
  __shared__ __align__(1024) Tiles tiles;
  float d[32] = {};
  for (int k = threadIdx.x; k < kTile * kTile; k += 128) {
    element(tiles.a[0], k / kTile, k % kTile) = x[k];  // expect no_barrier: race
    element(tiles.b[0], k / kTile, k % kTile) = x[k];  // expect no_barrier: race
  }
  fence_proxy();
  fence_registers();
  multiply_tiles(d, tiles.a[0], tiles.b[0]);
  commit();
  wait<0>();
  store_product(c, d);
}

__global__ void half_unwritten(const __half* x, float* c) {
  __shared__ __align__(1024) Tiles tiles;
  float d[32] = {};
  load_tile(tiles.a[0], x, kTile, 0);
  fence_proxy();
  __syncthreads();
  fence_registers();
  multiply_tiles(d, tiles.a[0], tiles.b[0]);  // expect half_unwritten: uninitialised
  commit();
  wait<0>();
  store_product(c, d);
}

template <bool Fence, bool Commit>
__global__ void incomplete(const __half* x, float* c) {
  __shared__ __align__(1024) Tiles tiles;
  float d[32] = {};
  load_tile(tiles.a[0], x, kTile, 0);
  load_tile(tiles.b[0], x, kTile, 0);
  fence_proxy();
  __syncthreads();
  if (Fence) fence_registers();
  multiply_tiles(d, tiles.a[0], tiles.b[0]);
  // expect fence_missing: warp-sync
  // expect commit_missing: async-copy
  if (Commit) commit();
  wait<0>();
  store_product(c, d);
}

__global__ void one_warp_less(const __half* x, float* c) {
  __shared__ __align__(1024) Tiles tiles;
  float d[32] = {};
  load_tile(tiles.a[0], x, kTile, 0);
  load_tile(tiles.b[0], x, kTile, 0);
  fence_proxy();
  __syncthreads();
  fence_registers();
  if (threadIdx.x < 96) {
    multiply_tiles(d, tiles.a[0], tiles.b[0]);  // expect one_warp_less: warp-sync
  }
  commit();
  wait<0>();
  store_product(c, d);
}

void run(void (*kernel)(const __half*, float*)) {
  Buffer<__half> x(kTile * kTile);
  Buffer<float> c(kTile * kTile);
  kernel<<<1, 128>>>(x, c);
  finish();
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"stored_before_wait", [] { run(stored_before_wait); }},
                   {"stage_under_way", [] { run(stage_under_way); }},
                   {"read_before_wait", [] { run(read_before_wait); }},
                   {"proxy_fence_missing", [] { run(proxy_fence_missing); }},
                   {"no_barrier", [] { run(no_barrier); }},
                   {"half_unwritten", [] { run(half_unwritten); }},
                   {"fence_missing", [] { run(incomplete<false, true>); }},
                   {"commit_missing", [] { run(incomplete<true, false>); }},
                   {"one_warp_less", [] { run(one_warp_less); }}});
}
