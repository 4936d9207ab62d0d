// Asynchronous copies whose data is used too early, or overwritten too early.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "../planted.h"

namespace cg = cooperative_groups;
constexpr int kTile = 64;

__global__ void wrong_group_count(const float* x, float* y, int tiles) {
  __shared__ float stage[2][kTile];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&stage[0][t], x + t, 4);
  __pipeline_commit();
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) __pipeline_memcpy_async(&stage[(i + 1) % 2][t], x + (i + 1) * kTile + t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(2);
    sum += stage[i % 2][t];  // expect wrong_group_count: async-copy
  }
  __pipeline_wait_prior(0);
  y[t] = sum;
}

__global__ void stage_reused(const float* x, float* y, int tiles) {
  __shared__ float stage[2][kTile];
  const int t = threadIdx.x;
  float sum = 0;
  __pipeline_memcpy_async(&stage[0][t], x + t, 4);
  __pipeline_commit();
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) {
      __pipeline_memcpy_async(&stage[(i + 1) % 2][t], x + (i + 1) * kTile + t,
                              4);  // expect stage_reused: race
    }
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += stage[i % 2][(t + 32) % kTile];  // expect stage_reused: race
  }
  y[t] = sum;
}

__global__ void commit_missing(const float* x, float* y) {
  __shared__ float tile[2][kTile];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[0][t], x + t, 4);
  __pipeline_commit();
  __pipeline_memcpy_async(&tile[1][t], x + kTile + t, 4);
  __pipeline_wait_prior(0);
  y[t] = tile[0][t] + tile[1][t];  // expect commit_missing: async-copy
}

__global__ void stored_over(const float* x, float* y) {
  __shared__ float tile[kTile];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], x + t, 4);
  __pipeline_commit();
  if (x[t] == 0) tile[t] = 1;  // expect stored_over: async-copy
  __pipeline_wait_prior(0);
  y[t] = tile[t];
}

__global__ void group_no_wait(const float* x, float* y) {
  __shared__ alignas(16) float tile[kTile];
  const cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, tile, x, sizeof tile);
  block.sync();
  y[threadIdx.x] = tile[threadIdx.x];  // expect group_no_wait: async-copy
}

__global__ void pipeline_no_wait(const float* x, float* y) {
  __shared__ alignas(16) float tile[kTile];
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(tile + threadIdx.x, x + threadIdx.x, sizeof(float), pipe);
  pipe.producer_commit();
  y[threadIdx.x] = tile[threadIdx.x];  // expect pipeline_no_wait: async-copy
  pipe.consumer_wait();
  pipe.consumer_release();
}

__global__ void pipeline_no_barrier(const float* x, float* y) {
  __shared__ alignas(16) float tile[kTile];
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(tile + threadIdx.x, x + threadIdx.x, sizeof(float), pipe);
  pipe.producer_commit();
  pipe.consumer_wait();
  y[threadIdx.x] = tile[kTile - 1 - threadIdx.x];  // expect pipeline_no_barrier: race
  pipe.consumer_release();
}

__global__ void barrier_no_wait(const float* x, float* y) {
  __shared__ alignas(16) float tile[kTile];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> ready;
  if (threadIdx.x == 0) init(&ready, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(tile + threadIdx.x, x + threadIdx.x, sizeof(float), ready);
  auto token = ready.arrive();
  y[threadIdx.x] = tile[threadIdx.x];  // expect barrier_no_wait: async-copy
  ready.wait(std::move(token));
}

__global__ void shared_pipeline(const float* x, float* y, int tiles) {
  __shared__ alignas(16) float stage[2][kTile];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const cg::thread_block block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  float sum = 0;
  pipe.producer_acquire();
  cuda::memcpy_async(block, stage[0], x, sizeof(float) * kTile, pipe);
  pipe.producer_commit();
  for (int i = 0; i < tiles; ++i) {
    pipe.consumer_wait();
    pipe.consumer_release();
    if (i + 1 < tiles) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, stage[0], x + (i + 1) * kTile, sizeof(float) * kTile, pipe);
      pipe.producer_commit();
    }
    sum += stage[0][threadIdx.x];  // expect released_too_early: async-copy
  }
  y[threadIdx.x] = sum;
}

template <class Kernel, class... More>
void run(Kernel kernel, More... more) {
  Buffer<float> x(8 * kTile), y(kTile);
  kernel<<<1, kTile>>>(x, y, more...);
  finish();
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"wrong_group_count", [] { run(wrong_group_count, 4); }},
                   {"stage_reused", [] { run(stage_reused, 4); }},
                   {"commit_missing", [] { run(commit_missing); }},
                   {"stored_over", [] { run(stored_over); }},
                   {"group_no_wait", [] { run(group_no_wait); }},
                   {"pipeline_no_wait", [] { run(pipeline_no_wait); }},
                   {"pipeline_no_barrier", [] { run(pipeline_no_barrier); }},
                   {"barrier_no_wait", [] { run(barrier_no_wait); }},
                   {"released_too_early", [] { run(shared_pipeline, 4); }}});
}
