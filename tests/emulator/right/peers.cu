// Memory that kernels of two devices may access: peers, pools, managed, pinned. Devices: 2
#include <cooperative_groups.h>

#include "../right.h"

__device__ int on_each[32];

__global__ void twice(const int* x, int* y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }
__global__ void count_in_heap(int* y) {
  int* const one = static_cast<int*>(malloc(sizeof(int)));
  *one = static_cast<int>(threadIdx.x);
  on_each[threadIdx.x] = *one;
  free(one);
  cooperative_groups::this_grid().sync();
  y[threadIdx.x] = on_each[threadIdx.x];
}

__global__ void count_up(int* counter) { atomicAdd(counter, 1); }
__global__ void count_up_for_all(int* counter) { atomicAdd_system(counter, 1); }

// Atomics of system scope at the same time, then of the GPU's scope one after the other.
void count_on_both(int* counter) {
  *counter = 0;
  for (int device : {0, 1}) {
    CHECK(cudaSetDevice(device));
    count_up_for_all<<<4, 32>>>(counter);
  }
  for (int device : {0, 1}) {
    CHECK(cudaSetDevice(device));
    settle();
  }
  for (int device : {1, 0}) {
    CHECK(cudaSetDevice(device));
    count_up<<<4, 32>>>(counter);
    settle();
  }
  EXPECT(*counter == 4 * 4 * 32);
}

void expect_twice_on_second(const int* x, int value) {
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaSetDevice(1));
  {
    Buffer<int> y(32);
    twice<<<1, 32>>>(x, y);
    settle();
    EXPECT(values<int>(y, 32) == std::vector<int>(32, 2 * value));
  }
  CHECK(cudaSetDevice(0));
}

int main() {
  const std::size_t bytes = 32 * sizeof(int);
  const std::vector<int> threes(32, 3);
  int *managed = nullptr, *mapped = nullptr, *pooled = nullptr;
  CHECK(cudaMallocManaged(&managed, bytes));
  CHECK(cudaHostAlloc(&mapped, bytes, cudaHostAllocMapped | cudaHostAllocPortable));
  std::memcpy(managed, threes.data(), bytes);
  std::memcpy(mapped, threes.data(), bytes);
  expect_twice_on_second(managed, 3);
  expect_twice_on_second(mapped, 3);

  count_on_both(mapped);

  cudaMemPool_t pool;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  cudaMemAccessDesc right{};
  right.location = {cudaMemLocationTypeDevice, 1};
  right.flags = cudaMemAccessFlagsProtReadWrite;
  CHECK(cudaMemPoolSetAccess(pool, &right, 1));
  CHECK(cudaMallocAsync(&pooled, bytes, nullptr));
  upload(pooled, threes);
  expect_twice_on_second(pooled, 3);

  Buffer<int> plain(32);
  upload<int>(plain, threes);
  CHECK(cudaSetDevice(1));
  CHECK(cudaDeviceEnablePeerAccess(0, 0));
  CHECK(cudaSetDevice(0));
  expect_twice_on_second(plain, 3);

  CHECK(cudaSetDevice(1));
  int* y = nullptr;
  CHECK(cudaMalloc(&y, bytes));
  void* arguments[] = {&y};
  CHECK(cudaLaunchCooperativeKernel(count_in_heap, 1, 32, arguments));
  settle();
  EXPECT(values<int>(y, 32)[31] == 31);
  CHECK(cudaFree(y));
  CHECK(cudaFreeHost(mapped));
  CHECK(cudaFree(managed));
  CHECK(cudaSetDevice(0));
  CHECK(cudaFreeAsync(pooled, nullptr));
  CHECK(cudaDeviceSynchronize());
}
