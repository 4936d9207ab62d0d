// Races in global memory within a block and between blocks.
#include <cooperative_groups.h>
#include <cuda/atomic>

#include "../planted.h"

namespace cg = cooperative_groups;

__global__ void ticket(int* next, int* slots) {
  if (threadIdx.x != 0) return;
  const int mine = *next;  // expect ticket: race
  *next = mine + 1;        // expect ticket: race
  slots[mine] = blockIdx.x;
}

__global__ void grid_step(float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];
  __syncthreads();                 // A barrier of the block does not order the grid.
  x[i] = y[(i + blockDim.x) % n];  // expect block_barrier: race
}

__global__ void smooth(float* x, float* y, int steps) {
  const cg::grid_group grid = cg::this_grid();
  const int n = gridDim.x * blockDim.x;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int step = 0; step < steps; ++step) {
    y[i] = (x[i] + x[(i + 1) % n]) / 2;  // expect grid_sync_missing: race
    grid.sync();
    x[i] = y[i];  // expect grid_sync_missing: race
  }
}

__global__ void bellman_ford(const int* edges, volatile int* distance, int* changed, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int to = edges[i];
  if (distance[i] + 1 < distance[to]) {
    distance[to] = distance[i] + 1;
    *changed = i;  // expect changed_by: race
  }
}

__global__ void progress(int* done, int* log) {
  atomicAdd(done, 1);
  if (threadIdx.x == 0) log[blockIdx.x] = *done;  // expect plain_read: race
}

__global__ void lock_of_block(int* lock, int* total) {
  if (threadIdx.x != 0) return;
  while (atomicCAS_block(lock, 0, 1) != 0) {  // expect lock_scope: race
  }
  __threadfence_block();
  *total += blockIdx.x;  // expect lock_scope: race
  __threadfence_block();
  atomicExch_block(lock, 0);  // expect lock_scope: race
}

__global__ void unlock_plain(int* lock, int* total) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *total += blockIdx.x;
  __threadfence();
  *lock = 0;  // expect plain_unlock: race
}

__global__ void relaxed_flag(int* data, int* flag, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    *data = 7;
    ready.store(1, cuda::memory_order_release);
  } else {
    while (ready.load(cuda::memory_order_relaxed) == 0) {
    }
    *out = *data;  // expect acquire_missing: race
  }
}

__global__ void relaxed_store(int* data, int* flag, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    *data = 7;
    ready.store(1, cuda::memory_order_relaxed);
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {
    }
    *out = *data;  // expect release_missing: race
  }
}

__global__ void row_maximum(const int* x, int* best) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (x[i] > best[0]) best[0] = x[i];  // expect maximum: race
}

__global__ void append(const int* x, int* queue, int* size, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] >= 0) queue[atomicAdd(size, 1)] = i;
  __syncthreads();
  if (i < n && i < *size) atomicAdd(&queue[i], 1);  // expect queue_read: race
}

__global__ void last_block(const float* x, float* partial, unsigned* arrived, float* out) {
  __shared__ bool last;
  float sum = 0;
  for (int i = threadIdx.x; i < 128; i += 32) sum += x[blockIdx.x * 128 + i];
  partial[blockIdx.x * 32 + threadIdx.x] = sum;
  __threadfence_block();
  if (threadIdx.x == 0) last = atomicAdd(arrived, 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  for (int i = threadIdx.x; i < 32 * gridDim.x; i += 32)
    atomicAdd(out, partial[i]);  // expect last_block_fence_scope: race
}

__global__ void boundaries(float* x, int n) {
  const int begin = blockIdx.x * blockDim.x, i = begin + threadIdx.x;
  if (i > 0 && i < n - 1) x[i] = (x[i - 1] + x[i + 1]) / 2;  // expect in_place_stencil: race
}

__global__ void shared_output(const float* x, float* y, int overlap) {
  const int i = blockIdx.x * (blockDim.x - overlap) + threadIdx.x;
  y[i] = x[i] + blockIdx.x;  // expect overlapping_tiles: race
}

using Integers = Buffer<int>;
using Floats = Buffer<float>;

void run_smooth() {
  Floats x(256), y(256);
  float *a = x, *b = y;
  int steps = 3;
  void* arguments[] = {&a, &b, &steps};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(smooth), 4, 64, arguments, 0, nullptr));
  finish();
}

void run_bellman_ford() {
  Integers edges(128), distance(128), changed(1);
  int host[128];
  for (int i = 0; i < 128; ++i) host[i] = (i + 64) % 128;
  CHECK(cudaMemcpy(edges, host, sizeof host, cudaMemcpyHostToDevice));
  for (int i = 0; i < 128; ++i) host[i] = i < 64 ? 0 : 100;
  CHECK(cudaMemcpy(distance, host, sizeof host, cudaMemcpyHostToDevice));
  bellman_ford<<<2, 64>>>(edges, distance, changed, 128);
  finish();
}

void run_maximum() {
  Integers x(128), best(1);
  int host[128];
  for (int i = 0; i < 128; ++i) host[i] = i;
  CHECK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
  row_maximum<<<4, 32>>>(x, best);
  finish();
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"ticket",
                    [] {
                      Integers n(1), slots(8);
                      ticket<<<8, 32>>>(n, slots);
                      finish();
                    }},
                   {"block_barrier",
                    [] {
                      Floats x(256), y(256);
                      grid_step<<<4, 64>>>(x, y, 256);
                      finish();
                    }},
                   {"grid_sync_missing", run_smooth},
                   {"changed_by", run_bellman_ford},
                   {"plain_read",
                    [] {
                      Integers n(1), log(4);
                      progress<<<4, 64>>>(n, log);
                      finish();
                    }},
                   {"lock_scope",
                    [] {
                      Integers lock(1), n(1);
                      lock_of_block<<<4, 32>>>(lock, n);
                      finish();
                    }},
                   {"plain_unlock",
                    [] {
                      Integers lock(1), n(1);
                      unlock_plain<<<4, 32>>>(lock, n);
                      finish();
                    }},
                   {"acquire_missing",
                    [] {
                      Integers a(1), b(1), c(1);
                      relaxed_flag<<<2, 1>>>(a, b, c);
                      finish();
                    }},
                   {"release_missing",
                    [] {
                      Integers a(1), b(1), c(1);
                      relaxed_store<<<2, 1>>>(a, b, c);
                      finish();
                    }},
                   {"maximum", run_maximum},
                   {"queue_read",
                    [] {
                      Integers x(128), q(128), n(1);
                      append<<<2, 64>>>(x, q, n, 128);
                      finish();
                    }},
                   {"last_block_fence_scope",
                    [] {
                      Floats x(512), y(128), z(1);
                      Buffer<unsigned> n(1);
                      last_block<<<4, 32>>>(x, y, n, z);
                      finish();
                    }},
                   {"in_place_stencil",
                    [] {
                      Floats x(256);
                      boundaries<<<4, 64>>>(x, 256);
                      finish();
                    }},
                   {"overlapping_tiles", [] {
                      Floats x(256), y(256);
                      shared_output<<<4, 64>>>(x, y, 2);
                      finish();
                    }}});
}
