// Barriers that not all threads reach, and waits that never end.
#include <cooperative_groups.h>

#include "../planted.h"

namespace cg = cooperative_groups;

__global__ void divergent(const int* x, int* y) {
  __shared__ int tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  if (threadIdx.x < 32) __syncthreads();  // expect divergent: barrier
  y[threadIdx.x] = threadIdx.x < 32 ? tile[63 - threadIdx.x] : 0;
}

__global__ void both_branches(int* y) {
  __shared__ int tile[64];
  if (threadIdx.x % 2 == 0) {
    tile[threadIdx.x] = 1;
    __syncthreads();  // expect both_branches: barrier
  } else {
    tile[threadIdx.x] = 2;
    __syncthreads();  // expect both_branches: barrier
  }
  y[threadIdx.x] = tile[threadIdx.x ^ 1];
}

__global__ void in_loop(const int* lengths, int* y) {
  __shared__ int tile[64];
  for (int i = 0; i < lengths[threadIdx.x]; ++i) {
    tile[threadIdx.x] = i;
    __syncthreads();  // expect in_loop: barrier
    y[threadIdx.x] += tile[threadIdx.x ^ 1];
    __syncthreads();  // expect in_loop: barrier
  }
  tile[threadIdx.x] = y[threadIdx.x];
  __syncthreads();  // expect in_loop: barrier
  y[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void tail_skips(const int* x, int* y, int n) {
  __shared__ int tile[64];
  const int i = threadIdx.x;
  int value = 0;
  if (i < n) {
    tile[i] = x[i];
    __syncthreads();  // expect tail_skips: barrier
    value = tile[n - 1 - i];
  }
  y[i] = value;
}

__global__ void leaves_loop(const int* lengths, int* y, int steps) {
  __shared__ int tile[64];
  const int i = threadIdx.x;
  for (int step = 0; step < steps; ++step) {
    if (step >= lengths[i]) break;
    tile[i] = step;
    __syncthreads();  // expect leaves_loop: barrier
  }
  atomicAdd(y, tile[i]);
}

__global__ void wrong_count(int* y) {
  __shared__ int box[32];
  if (threadIdx.x < 32) {
    box[threadIdx.x] = threadIdx.x;
    asm volatile("bar.arrive 1, 64;" ::: "memory");  // expect wrong_count: barrier
  } else {
    asm volatile("bar.sync 1, 96;" ::: "memory");  // expect wrong_count: barrier
    y[threadIdx.x - 32] = box[threadIdx.x - 32];
  }
}

__global__ void missing_arrival(int* y) {
  __shared__ int box[32];
  if (threadIdx.x < 32) {
    box[threadIdx.x] = threadIdx.x;
    asm volatile("bar.arrive 2, 96;" ::: "memory");
  } else {
    asm volatile("bar.sync 2, 96;" ::: "memory");  // expect missing_arrival: barrier
    y[threadIdx.x - 32] = box[threadIdx.x - 32];
  }
}

__global__ void different_barriers(int* y) {
  if (threadIdx.x < 32) {
    asm volatile("bar.sync 1, 64;" ::: "memory");  // expect different_barriers: barrier
    y[threadIdx.x] = 1;
  } else {
    asm volatile("bar.sync 2, 64;" ::: "memory");  // expect different_barriers: barrier
    y[threadIdx.x] = 2;
  }
}

__global__ void odd_count(int* y) {
  asm volatile("bar.sync 1, 40;" ::: "memory");  // expect odd_count: barrier
  y[threadIdx.x] = 1;
}

__global__ void block_leaves_grid(int* y) {
  const cg::grid_group grid = cg::this_grid();
  if (blockIdx.x == 2) return;
  y[blockIdx.x] = 1;
  grid.sync();  // expect block_leaves_grid: deadlock
  y[blockIdx.x] += y[(blockIdx.x + 1) % gridDim.x];
}

__global__ void grid_in_branch(int* y, int n) {
  const cg::grid_group grid = cg::this_grid();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = i;
    grid.sync();  // expect grid_in_branch: barrier
  }
  y[i] += 1;
}

__global__ void flag_never_set(volatile int* flag, int* y) {
  if (threadIdx.x == 0 && *y == 1) *flag = 1;
  while (*flag == 0) {  // expect flag_never_set: deadlock
  }
  *y = 2;
}

__global__ void lock_kept(int* lock, int* y) {
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {  // expect lock_kept: deadlock
    }
    __threadfence();
    *y += 1;
    __threadfence();
    if (*y == 100) atomicExch(lock, 0);
  }
}

__global__ void group_of_other_size(int* y) {
  const cg::thread_block block = cg::this_thread_block();
  if (block.thread_rank() < 48) {
    block.sync();  // expect group_in_branch: barrier
  }
  y[block.thread_rank()] = 1;
}

__global__ void more_blocks_than_fit(volatile int* arrived, int* y) {
  if (threadIdx.x == 0) {
    atomicAdd(const_cast<int*>(arrived), 1);
    while (*arrived < gridDim.x) {  // expect grid_too_large: deadlock
    }
  }
  __syncthreads();
  y[blockIdx.x] = *arrived;
}

using Integers = Buffer<int>;

void run_leaves_loop() {
  Integers x(64), y(1);
  int host[64];
  for (int i = 0; i < 64; ++i) host[i] = 1 + i / 32;
  CHECK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
  leaves_loop<<<1, 64>>>(x, y, 4);
  finish();
}

void run_lengths() {
  Integers x(64), y(64);
  int host[64];
  for (int i = 0; i < 64; ++i) host[i] = 1 + i / 32;
  CHECK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
  in_loop<<<1, 64>>>(x, y);
  finish();
}

void cooperative(void (*kernel)(int*)) {
  Integers y(8);
  int* pointer = y;
  void* arguments[] = {&pointer};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), 4, 32, arguments, 0, nullptr));
  finish();
}

void run_branch() {
  Integers y(128);
  int* pointer = y;
  int n = 100;
  void* arguments[] = {&pointer, &n};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(grid_in_branch), 2, 64, arguments, 0,
                                    nullptr));
  finish();
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"divergent",
                    [] {
                      Integers x(64), y(64);
                      divergent<<<1, 64>>>(x, y);
                      finish();
                    }},
                   {"both_branches",
                    [] {
                      Integers y(64);
                      both_branches<<<1, 64>>>(y);
                      finish();
                    }},
                   {"in_loop", run_lengths},
                   {"tail_skips",
                    [] {
                      Integers x(64), y(64);
                      tail_skips<<<1, 64>>>(x, y, 50);
                      finish();
                    }},
                   {"leaves_loop", run_leaves_loop},
                   {"wrong_count",
                    [] {
                      Integers y(32);
                      wrong_count<<<1, 64>>>(y);
                      finish();
                    }},
                   {"missing_arrival",
                    [] {
                      Integers y(32);
                      missing_arrival<<<1, 64>>>(y);
                      finish();
                    }},
                   {"different_barriers",
                    [] {
                      Integers y(64);
                      different_barriers<<<1, 64>>>(y);
                      finish();
                    }},
                   {"odd_count",
                    [] {
                      Integers y(64);
                      odd_count<<<1, 64>>>(y);
                      finish();
                    }},
                   {"block_leaves_grid", [] { cooperative(block_leaves_grid); }},
                   {"grid_in_branch", run_branch},
                   {"flag_never_set",
                    [] {
                      Integers x(1), y(1);
                      flag_never_set<<<1, 32>>>(x, y);
                      finish();
                    }},
                   {"lock_kept",
                    [] {
                      Integers x(1), y(1);
                      lock_kept<<<1, 64>>>(x, y);
                      finish();
                    }},
                   {"group_in_branch",
                    [] {
                      Integers y(64);
                      group_of_other_size<<<1, 64>>>(y);
                      finish();
                    }},
                   {"grid_too_large", [] {
                      Integers x(1), y(1024);
                      more_blocks_than_fit<<<1024, 32, 48'000>>>(x, y);  // 3 or 4 fit a processor
                      finish();
                    }}});
}
