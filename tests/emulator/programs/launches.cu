// Arguments, limits and attributes of launches.
#include <cuda_runtime.h>

#include "expect.h"

struct Numbers {
  char a;
  double b;
  short c[5];
};

__global__ void sum(float* out, Numbers numbers, int scale) {
  out[blockIdx.x * blockDim.x + threadIdx.x] =
      static_cast<float>(numbers.a + numbers.b + numbers.c[4]) * static_cast<float>(scale) +
      threadIdx.x;
}

extern __shared__ int dynamic_memory[];
__global__ void reverse(int* out) {
  __shared__ int fixed[4];
  dynamic_memory[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (threadIdx.x < 4) fixed[threadIdx.x] = 100;
  __syncthreads();
  out[threadIdx.x] = dynamic_memory[blockDim.x - 1 - threadIdx.x] + fixed[threadIdx.x % 4];
}

__global__ void __launch_bounds__(128) bounded(int* out) { out[threadIdx.x] = 1; }

void structs_are_passed_by_value() {
  float* out = nullptr;
  EXPECT_SUCCESS(cudaMalloc(&out, 64 * sizeof(float)));
  Numbers numbers{1, 2.5, {0, 0, 0, 0, 7}};
  sum<<<2, 32>>>(out, numbers, 2);
  EXPECT_SUCCESS(cudaGetLastError());
  float host[64];
  EXPECT_SUCCESS(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) EXPECT(host[i] == 21.0f + static_cast<float>(i % 32));
  EXPECT_SUCCESS(cudaFree(out));
}

void dynamic_shared_memory_has_limits() {
  int* out = nullptr;
  EXPECT_SUCCESS(cudaMalloc(&out, 256 * sizeof(int)));
  reverse<<<1, 256, 256 * sizeof(int)>>>(out);
  int host[256];
  EXPECT_SUCCESS(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 256; ++i) EXPECT(host[i] == 355 - i);

  // 48 KB of static and dynamic memory together, more after cudaFuncSetAttribute.
  reverse<<<1, 32, 48 * 1024>>>(out);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  reverse<<<1, 32, 48 * 1024 - 16>>>(out);
  EXPECT_SUCCESS(cudaGetLastError());
  EXPECT_SUCCESS(
      cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024));
  reverse<<<1, 32, 64 * 1024>>>(out);
  EXPECT_SUCCESS(cudaGetLastError());
  EXPECT(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20) ==
         cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  EXPECT_SUCCESS(cudaDeviceSynchronize());
  EXPECT_SUCCESS(cudaFree(out));
}

void sizes_have_limits() {
  int* out = nullptr;
  EXPECT_SUCCESS(cudaMalloc(&out, 1024 * sizeof(int)));
  bounded<<<1, 2048>>>(out);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  bounded<<<dim3(1, 65536), 32>>>(out);
  EXPECT(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  EXPECT_SUCCESS(cudaGetLastError());
  bounded<<<0, 32>>>(out);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  bounded<<<1, dim3(1, 1, 128)>>>(out);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  bounded<<<1, 129>>>(out);
  EXPECT(cudaGetLastError() != cudaSuccess);
  bounded<<<1, 128>>>(out);
  EXPECT_SUCCESS(cudaGetLastError());
  EXPECT_SUCCESS(cudaDeviceSynchronize());
  EXPECT_SUCCESS(cudaFree(out));
}

void attributes_tell_the_truth() {
  cudaFuncAttributes attributes{};
  EXPECT_SUCCESS(cudaFuncGetAttributes(&attributes, bounded));
  EXPECT(attributes.maxThreadsPerBlock == 128);
  EXPECT(attributes.ptxVersion == 80);
  EXPECT(attributes.numRegs > 0);
  EXPECT_SUCCESS(cudaFuncGetAttributes(&attributes, reverse));
  EXPECT(attributes.sharedSizeBytes == 16);
  EXPECT(attributes.maxThreadsPerBlock == 1024);
  int blocks = 0, grid = 0, block = 0;
  EXPECT_SUCCESS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 128, 0));
  EXPECT(blocks > 0 && blocks <= 16);
  EXPECT_SUCCESS(cudaOccupancyMaxPotentialBlockSize(&grid, &block, sum));
  EXPECT(block % 32 == 0 && block > 0 && block <= 1024 && grid > 0);
  const char* name = nullptr;
  EXPECT_SUCCESS(cudaFuncGetName(&name, bounded));
  EXPECT(name[0] == '_');
}

void extended_launches_work() {
  float* out = nullptr;
  EXPECT_SUCCESS(cudaMalloc(&out, 32 * sizeof(float)));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = 32;
  config.attrs = &attribute;
  config.numAttrs = 1;
  EXPECT_SUCCESS(cudaLaunchKernelEx(&config, sum, out, Numbers{0, 0, {}}, 1));
  int scale = 3;
  Numbers numbers{1, 1, {}};
  void* arguments[] = {&out, &numbers, &scale};
  EXPECT_SUCCESS(cudaLaunchKernel(sum, dim3(1), dim3(32), arguments, 0, nullptr));
  float first = 0;
  EXPECT_SUCCESS(cudaMemcpy(&first, out, sizeof first, cudaMemcpyDeviceToHost));
  EXPECT(first == 6);
  EXPECT_SUCCESS(cudaFree(out));
}

int main() {
  structs_are_passed_by_value();
  dynamic_shared_memory_has_limits();
  sizes_have_limits();
  attributes_tell_the_truth();
  extended_launches_work();
}
