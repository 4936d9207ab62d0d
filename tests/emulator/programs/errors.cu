// Errors of calls and of aborted kernels. Every defect here is wanted: the program exits with 0 if
// the runtime returns what NVIDIA's documentation says.
#include <cuda_runtime.h>

#include <cassert>
#include <cstring>

#include "expect.h"

__global__ void store(int* to, int offset) { to[offset] = 1; }
__global__ void fail(int value) { assert(value == 2); }
__global__ void stop() { __trap(); }
__global__ void nothing() {}

void expect_sticky(cudaError_t error) {
  EXPECT(cudaDeviceSynchronize() == error);
  void* memory = nullptr;
  EXPECT(cudaMalloc(&memory, 16) == error);
  EXPECT(cudaGetLastError() == error);
  EXPECT(cudaPeekAtLastError() == error);
  nothing<<<1, 1>>>();
  EXPECT(cudaGetLastError() == error);
  EXPECT_SUCCESS(cudaDeviceReset());
  EXPECT_SUCCESS(cudaGetLastError());
}

int* allocate() {
  int* memory = nullptr;
  EXPECT_SUCCESS(cudaMalloc(&memory, 256));
  return memory;
}

int main() {
  EXPECT(std::strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress") == 0);
  EXPECT(std::strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
  EXPECT(std::strcmp(cudaGetErrorString(static_cast<cudaError_t>(12345)),
                     "unrecognized error code") == 0);
  EXPECT(cudaSetDevice(99) == cudaErrorInvalidDevice);
  EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
  EXPECT_SUCCESS(cudaGetLastError());
  EXPECT_SUCCESS(cudaFree(nullptr));

  int* memory = allocate();
  char host[64];
  EXPECT(cudaMemcpy(host, memory, 64, static_cast<cudaMemcpyKind>(9)) ==
         cudaErrorInvalidMemcpyDirection);
  EXPECT(cudaMemcpy(host, memory, 64, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  EXPECT(cudaMemset(memory, 0, 257) == cudaErrorInvalidValue);
  EXPECT(cudaMemcpy(memory + 60, host, 64, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  EXPECT(cudaFree(memory + 1) == cudaErrorInvalidValue);
  EXPECT_SUCCESS(cudaFree(memory));
  EXPECT(cudaFree(memory) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);

  store<<<1, 1>>>(allocate(), 64);
  expect_sticky(cudaErrorIllegalAddress);
  store<<<1, 1>>>(reinterpret_cast<int*>(reinterpret_cast<char*>(allocate()) + 1), 0);
  expect_sticky(cudaErrorMisalignedAddress);
  fail<<<1, 1>>>(3);
  expect_sticky(cudaErrorAssert);
  stop<<<1, 1>>>();
  expect_sticky(cudaErrorLaunchFailure);
}
