// Barriers with split arrival and wait, of which a phase never ends.
#include <cuda/barrier>
#include <cuda/ptx>

#include "../planted.h"

#pragma nv_diag_suppress static_var_with_dynamic_init

namespace ptx = cuda::ptx;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void one_too_many(int* y) {
  __shared__ Barrier ready;
  if (threadIdx.x == 0) init(&ready, blockDim.x + 1);
  __syncthreads();
  y[threadIdx.x] = 1;
  ready.arrive_and_wait();  // expect one_too_many: deadlock
}

/// The producer leaves its loop one stage early.
__global__ void missing_stage(const int* x, int* y) {
  __shared__ Barrier full;
  __shared__ int stage[32];
  if (threadIdx.x == 0) init(&full, 64);
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int i = 0; i < 3; ++i) {
      stage[threadIdx.x] = x[32 * i + threadIdx.x];
      (void)full.arrive();
      __syncthreads();
    }
  } else {
    for (int i = 0; i < 3; ++i) {
      full.arrive_and_wait();
      y[threadIdx.x] += stage[threadIdx.x - 32];
      __syncthreads();
    }
    full.arrive_and_wait();  // expect missing_stage: deadlock
  }
}

/// Waits for two phases and arrives for one.
__global__ void one_arrival(int* y) {
  __shared__ Barrier ready;
  if (threadIdx.x == 0) init(&ready, blockDim.x);
  __syncthreads();
  y[threadIdx.x] = 1;
  (void)ready.arrive();
  std::uint64_t* const handle = cuda::device::barrier_native_handle(ready);
  for (unsigned phase = 0; phase < 2; ++phase) {
    while (!ptx::mbarrier_test_wait_parity(handle, phase)) {  // expect one_arrival: deadlock
    }
  }
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"one_too_many",
                    [] {
                      Buffer<int> y(64);
                      one_too_many<<<1, 64>>>(y);
                      finish();
                    }},
                   {"missing_stage",
                    [] {
                      Buffer<int> x(96), y(64);
                      missing_stage<<<1, 64>>>(x, y);
                      finish();
                    }},
                   {"one_arrival", [] {
                      Buffer<int> y(64);
                      one_arrival<<<1, 64>>>(y);
                      finish();
                    }}});
}
