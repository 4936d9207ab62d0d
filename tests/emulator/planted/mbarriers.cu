// Waits at mbarriers whose phase never completes.
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
                   {"wrong_parity", [] {
                      Buffer<int> y(64);
                      wrong_parity<<<1, 64>>>(y);
                      finish();
                    }}});
}
