// Waits at mbarriers whose phase never completes, or that order too little.
// Gpu: h100
#include <cuda/barrier>

#include "../planted.h"
#include "../tma.h"

__global__ void arrival_missing(int* y) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x + 1);
  __syncthreads();
  barrier.arrive_and_wait();  // expect arrival_missing: deadlock
  y[threadIdx.x] = 1;
}

// Many warps wait: the emulator must not need minutes to find out that all wait in vain.
__global__ void bytes_missing(const float* x, float* y) {
  __shared__ alignas(128) float tile[64];
  __shared__ std::uint64_t ready;
  if (threadIdx.x == 0) {
    make(&ready, 1);
    expect_bytes(&ready, sizeof tile);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, x, sizeof tile / 2, &ready);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&ready, 0)) {  // expect bytes_missing: deadlock
  }
  y[threadIdx.x] = tile[threadIdx.x % 64];
}

// The first phase completes, and the threads wait for the second one.
__global__ void wrong_parity(int* y) {
  __shared__ std::uint64_t ready;
  if (threadIdx.x == 0) make(&ready, blockDim.x);
  __syncthreads();
  ptx::mbarrier_arrive(&ready);
  wait(&ready, 0);
  while (!ptx::mbarrier_try_wait_parity(&ready, 1)) {  // expect wrong_parity: deadlock
  }
  y[threadIdx.x] = 1;
}

// Nothing keeps a warp from writing its next values while others read: the wait for the first phase
// says nothing about arrivals at the second one.
__global__ void one_wait_a_round(const int* x, int* y) {
  __shared__ std::uint64_t ready;
  __shared__ int tile[64];
  const int i = threadIdx.x;
  if (i == 0) ptx::mbarrier_init(&ready, 64);
  __syncthreads();
  for (int round = 0; round < 2; ++round) {
    tile[i] = x[i] + round;  // expect one_wait_a_round: race
    ptx::mbarrier_arrive(&ready);
    while (!ptx::mbarrier_try_wait_parity(&ready, round)) {
    }
    y[round * 64 + i] = tile[63 - i];  // expect one_wait_a_round: race
  }
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"arrival_missing",
                    [] {
                      Buffer<int> y(64);
                      arrival_missing<<<1, 64>>>(y);
                      finish();
                    }},
                   {"bytes_missing",
                    [] {
                      Buffer<float> x(64), y(1024);
                      bytes_missing<<<1, 1024>>>(x, y);
                      finish();
                    }},
                   {"wrong_parity",
                    [] {
                      Buffer<int> y(64);
                      wrong_parity<<<1, 64>>>(y);
                      finish();
                    }},
                   {"one_wait_a_round", [] {
                      Buffer<int> x(64), y(128);
                      one_wait_a_round<<<1, 64>>>(x, y);
                      finish();
                    }}});
}
