// Allocation, copies, memsets, symbols and managed memory.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "expect.h"

__device__ int counter = 5;
__constant__ float table[4] = {1, 2, 3, 4};
__managed__ int shared_number = 3;

__global__ void use_variables(float* out) {
  out[threadIdx.x] = table[threadIdx.x] * static_cast<float>(counter + shared_number);
  __syncthreads();
  if (threadIdx.x == 0) shared_number = 11;
}
__global__ void add_one(int* values, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) ++values[i];
}

void variables_are_reached_by_their_symbols() {
  float* out = nullptr;
  EXPECT_SUCCESS(cudaMalloc(&out, 4 * sizeof(float)));
  EXPECT(shared_number == 3);
  use_variables<<<1, 4>>>(out);
  float host[4];
  EXPECT_SUCCESS(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 4; ++i) EXPECT(host[i] == 8.0f * static_cast<float>(i + 1));
  EXPECT(shared_number == 11);
  const int seven = 7;
  EXPECT_SUCCESS(cudaMemcpyToSymbol(counter, &seven, sizeof seven));
  const float ten = 10;
  EXPECT_SUCCESS(cudaMemcpyToSymbol(table, &ten, sizeof ten, 2 * sizeof(float)));
  use_variables<<<1, 4>>>(out);
  EXPECT_SUCCESS(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[2] == 180 && host[3] == 72);
  int read = 0;
  EXPECT_SUCCESS(cudaMemcpyFromSymbol(&read, counter, sizeof read));
  EXPECT(read == 7);
  void* address = nullptr;
  size_t bytes = 0;
  EXPECT_SUCCESS(cudaGetSymbolAddress(&address, counter));
  EXPECT_SUCCESS(cudaGetSymbolSize(&bytes, table));
  EXPECT(bytes == 16 && address != nullptr);
  EXPECT_SUCCESS(cudaMemcpy(&read, address, sizeof read, cudaMemcpyDeviceToHost));
  EXPECT(read == 7);
  EXPECT(cudaGetSymbolSize(&bytes, &read) == cudaErrorInvalidSymbol);
  EXPECT(cudaGetLastError() == cudaErrorInvalidSymbol);
  EXPECT_SUCCESS(cudaFree(out));
}

void rows_are_copied_with_their_pitch() {
  constexpr int width = 5, height = 3;
  int* device = nullptr;
  size_t pitch = 0;
  EXPECT_SUCCESS(cudaMallocPitch(&device, &pitch, width * sizeof(int), height));
  EXPECT(pitch >= width * sizeof(int) && pitch % 256 == 0);
  int host[height][width], back[height][width] = {};
  for (int i = 0; i < width * height; ++i) host[i / width][i % width] = i;
  EXPECT_SUCCESS(cudaMemcpy2D(device, pitch, host, sizeof host[0], sizeof host[0], height,
                              cudaMemcpyHostToDevice));
  EXPECT_SUCCESS(cudaMemset2D(device, pitch, 0xff, sizeof(int), height));
  EXPECT_SUCCESS(cudaMemcpy2D(back, sizeof back[0], device, pitch, sizeof back[0], height,
                              cudaMemcpyDeviceToHost));
  for (int y = 0; y < height; ++y) {
    EXPECT(back[y][0] == -1);
    for (int x = 1; x < width; ++x) EXPECT(back[y][x] == host[y][x]);
  }
  EXPECT(cudaMemcpy2D(back, 2, device, pitch, 4, 1, cudaMemcpyDeviceToHost) ==
         cudaErrorInvalidPitchValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidPitchValue);
  EXPECT_SUCCESS(cudaFree(device));

  cudaPitchedPtr cube{};
  EXPECT_SUCCESS(cudaMalloc3D(&cube, make_cudaExtent(8, 2, 2)));
  EXPECT_SUCCESS(cudaMemset3D(cube, 7, make_cudaExtent(8, 2, 2)));
  char bytes[32] = {};
  cudaMemcpy3DParms copy{};
  copy.srcPtr = cube;
  copy.dstPtr = make_cudaPitchedPtr(bytes, 8, 8, 2);
  copy.extent = make_cudaExtent(8, 2, 2);
  copy.kind = cudaMemcpyDeviceToHost;
  EXPECT_SUCCESS(cudaMemcpy3D(&copy));
  for (char byte : bytes) EXPECT(byte == 7);
  EXPECT_SUCCESS(cudaFree(cube.ptr));
}

void host_and_managed_memory_are_shared() {
  int* pinned = nullptr;
  EXPECT_SUCCESS(cudaHostAlloc(&pinned, 64 * sizeof(int), cudaHostAllocMapped));
  for (int i = 0; i < 64; ++i) pinned[i] = i;
  int* device = nullptr;
  EXPECT_SUCCESS(cudaHostGetDevicePointer(&device, pinned, 0));
  add_one<<<2, 32>>>(device, 64);
  EXPECT_SUCCESS(cudaDeviceSynchronize());
  EXPECT(pinned[63] == 64);
  cudaPointerAttributes attributes{};
  EXPECT_SUCCESS(cudaPointerGetAttributes(&attributes, pinned + 3));
  EXPECT(attributes.type == cudaMemoryTypeHost);
  EXPECT_SUCCESS(cudaFreeHost(pinned));

  int* managed = nullptr;
  EXPECT_SUCCESS(cudaMallocManaged(&managed, 64 * sizeof(int)));
  for (int i = 0; i < 64; ++i) managed[i] = 2 * i;
  add_one<<<2, 32>>>(managed, 64);
  EXPECT_SUCCESS(cudaDeviceSynchronize());
  EXPECT(managed[10] == 21);
  EXPECT_SUCCESS(cudaPointerGetAttributes(&attributes, managed));
  EXPECT(attributes.type == cudaMemoryTypeManaged);
  EXPECT_SUCCESS(cudaFree(managed));

  std::vector<int> own(1024, 1);
  EXPECT_SUCCESS(cudaHostRegister(own.data(), own.size() * sizeof(int), cudaHostRegisterDefault));
  add_one<<<8, 128>>>(own.data(), 1024);
  EXPECT_SUCCESS(cudaDeviceSynchronize());
  EXPECT(own[1023] == 2);
  EXPECT_SUCCESS(cudaHostUnregister(own.data()));
  EXPECT_SUCCESS(cudaPointerGetAttributes(&attributes, own.data()));
  EXPECT(attributes.type == cudaMemoryTypeUnregistered);
}

void streams_order_allocations() {
  cudaStream_t stream = nullptr;
  EXPECT_SUCCESS(cudaStreamCreate(&stream));
  int* values = nullptr;
  EXPECT_SUCCESS(cudaMallocAsync(&values, 256 * sizeof(int), stream));
  EXPECT_SUCCESS(cudaMemsetAsync(values, 0, 256 * sizeof(int), stream));
  add_one<<<1, 256, 0, stream>>>(values, 256);
  int last = 0;
  EXPECT_SUCCESS(cudaMemcpyAsync(&last, values + 255, sizeof last, cudaMemcpyDeviceToHost, stream));
  EXPECT_SUCCESS(cudaFreeAsync(values, stream));
  EXPECT_SUCCESS(cudaStreamSynchronize(stream));
  EXPECT(last == 1);
  EXPECT_SUCCESS(cudaStreamDestroy(stream));
  cudaMemPool_t pool = nullptr;
  EXPECT_SUCCESS(cudaDeviceGetDefaultMemPool(&pool, 0));
  std::uint64_t threshold = ~std::uint64_t{0}, read = 0;
  EXPECT_SUCCESS(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  EXPECT_SUCCESS(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read));
  EXPECT(read == threshold);
}

void memory_is_counted() {
  size_t before = 0, after = 0, total = 0;
  EXPECT_SUCCESS(cudaMemGetInfo(&before, &total));
  void* block = nullptr;
  EXPECT_SUCCESS(cudaMalloc(&block, 1 << 20));
  EXPECT_SUCCESS(cudaMemGetInfo(&after, &total));
  EXPECT(before - after >= 1 << 20);
  EXPECT(cudaMalloc(&block, total + 1) == cudaErrorMemoryAllocation);
  EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
  EXPECT(block == nullptr);  // cudaDeviceReset below frees the first block
}

int main() {
  variables_are_reached_by_their_symbols();
  rows_are_copied_with_their_pitch();
  host_and_managed_memory_are_shared();
  streams_order_allocations();
  memory_is_counted();
  EXPECT_SUCCESS(cudaDeviceReset());
}
