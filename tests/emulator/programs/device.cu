// Queries that programs make about a device.
#include <cuda_runtime.h>

#include <cstring>

#include "expect.h"

int main() {
  int count = 0, device = -1;
  EXPECT_SUCCESS(cudaGetDeviceCount(&count));
  EXPECT_SUCCESS(cudaGetDevice(&device));
  EXPECT(count >= 1 && device == 0);
  cudaDeviceProp properties{};
  EXPECT_SUCCESS(cudaGetDeviceProperties(&properties, 0));
  EXPECT(std::strlen(properties.name) > 0);
  EXPECT(properties.warpSize == 32 && properties.maxThreadsPerBlock == 1024);
  EXPECT(properties.major >= 8 && properties.multiProcessorCount > 0);
  int value = 0;
  EXPECT_SUCCESS(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  EXPECT(value == properties.multiProcessorCount);
  EXPECT_SUCCESS(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  EXPECT(static_cast<size_t>(value) == properties.sharedMemPerBlockOptin);
  EXPECT(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, count) == cudaErrorInvalidDevice);
  char text[32];
  EXPECT_SUCCESS(cudaDeviceGetPCIBusId(text, sizeof text, 0));
  EXPECT_SUCCESS(cudaDeviceGetByPCIBusId(&device, text));
  EXPECT(device == 0);
  size_t limit = 0;
  EXPECT_SUCCESS(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
  EXPECT_SUCCESS(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  EXPECT(limit == 32 << 20);
  int version = 0;
  EXPECT_SUCCESS(cudaRuntimeGetVersion(&version));
  EXPECT(version == CUDART_VERSION);
  EXPECT_SUCCESS(cudaDriverGetVersion(&version));
  EXPECT(version >= CUDART_VERSION);
}
