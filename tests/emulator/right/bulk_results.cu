// Gpu: h100
// Results of bulk copies that are used after cp.async.bulk.wait_group: by the thread that waited,
// by others behind a barrier, and by another block behind a flag.
#include "../right.h"
#include "../tma.h"

constexpr int kCount = 256, kThreads = 64;

__global__ void exchange(float* y, float* z, int* flag) {
  __shared__ alignas(128) float tile[kCount];
  if (blockIdx.x == 0) {
    for (int round = 0; round < 2; ++round) {
      for (int i = threadIdx.x; i < kCount; i += kThreads) tile[i] = i + round;
      ptx::fence_proxy_async(ptx::space_shared);
      __syncthreads();
      if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y, tile, sizeof tile);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
        z[0] = y[0];
      }
      __syncthreads();
      if (threadIdx.x > 0) z[threadIdx.x] = y[threadIdx.x];
      __syncthreads();
    }
    __threadfence();
    if (threadIdx.x == 0) atomicExch(flag, 1);
  } else if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    z[kThreads] = y[5];
  }
}

int main() {
  Buffer<float> y(kCount), z(kThreads + 1);
  Buffer<int> flag(1);
  exchange<<<2, kThreads>>>(y, z, flag);
  settle();
  std::vector<float> expected(kThreads + 1);
  for (int i = 0; i < kThreads; ++i) expected[i] = i + 1;
  expected[kThreads] = 6;
  EXPECT(values<float>(z, kThreads + 1) == expected);
}
