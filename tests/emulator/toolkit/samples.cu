// Calls that programs in the style of NVIDIA's samples make around small kernels.
#include "verify.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_profiler_api.h>
#include <cmath>

namespace cg = cooperative_groups;

__constant__ float filter[17];
__device__ int counter;
__managed__ int managed_total;

namespace {

__global__ void convolve_rows(float* out, const float* in, int width, int pitch) {
  __shared__ float row[64 + 16];
  const int x = blockIdx.x * 64 + threadIdx.x;
  const float* line = in + blockIdx.y * pitch;
  for (int i = threadIdx.x; i < 80; i += 64) {
    const int from = int(blockIdx.x) * 64 + i - 8;
    row[i] = from >= 0 && from < width ? line[from] : 0;
  }
  __syncthreads();
  if (x >= width) return;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 17; ++i) sum += filter[16 - i] * row[threadIdx.x + i];
  out[blockIdx.y * pitch + x] = sum;
}

void convolution() {
  const int width = 150, height = 7;
  std::vector<float> host(width * height), got(width * height), weights(17);
  for (int i = 0; i < 17; ++i) weights[i] = float(i % 5);
  for (int i = 0; i < width * height; ++i) host[i] = float(i % 11);
  SUCCEED(cudaMemcpyToSymbol(filter, weights.data(), sizeof filter));
  float *in, *out;
  size_t pitch;
  SUCCEED(cudaMallocPitch(&in, &pitch, width * sizeof(float), height));
  SUCCEED(cudaMallocPitch(&out, &pitch, width * sizeof(float), height));
  SUCCEED(
      cudaMemcpy2D(in, pitch, host.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
  convolve_rows<<<dim3(3, height), 64>>>(out, in, width, int(pitch / 4));
  SUCCEED(
      cudaMemcpy2D(got.data(), width * 4, out, pitch, width * 4, height, cudaMemcpyDeviceToHost));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      float sum = 0;
      for (int i = 0; i < 17; ++i) {
        const int from = x + i - 8;
        if (from >= 0 && from < width) sum += weights[16 - i] * host[y * width + from];
      }
      verify(got[y * width + x] == sum, "convolution", x);
    }
  SUCCEED(cudaFree(in));
  SUCCEED(cudaFree(out));
}

__global__ void reduce_groups(const int* in, int* out, int n) {
  cg::grid_group grid = cg::this_grid();
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  int sum = 0;
  for (int i = int(grid.thread_rank()); i < n; i += int(grid.size())) sum += in[i];
  sum = cg::reduce(tile, sum, cg::plus<int>());
  if (tile.thread_rank() == 0) atomicAdd(out, sum);
  grid.sync();
  if (grid.thread_rank() == 0) out[1] = out[0] * 2;
  auto active = cg::coalesced_threads();
  const int rank = cg::exclusive_scan(active, 1);
  if (rank == 0) atomicAdd(&counter, int(active.size()));
  if (block.thread_rank() == 0) atomicAdd_system(&managed_total, 1);
}

void cooperative() {
  const int n = 10000;
  std::vector<int> host(n, 3);
  int *in, *out, blocks = 0, zero = 0, got[2], threads = 0;
  SUCCEED(cudaMalloc(&in, n * 4));
  SUCCEED(cudaMalloc(&out, 8));
  SUCCEED(cudaMemset(out, 0, 8));
  SUCCEED(cudaMemcpy(in, host.data(), n * 4, cudaMemcpyHostToDevice));
  SUCCEED(cudaMemcpyToSymbol(counter, &zero, 4));
  SUCCEED(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reduce_groups, 128, 0));
  verify(blocks > 0, "occupancy", blocks);
  int size = n;
  void* arguments[] = {&in, &out, &size};
  SUCCEED(cudaLaunchCooperativeKernel((void*)reduce_groups, 8, 128, arguments, 0, nullptr));
  SUCCEED(cudaMemcpy(got, out, 8, cudaMemcpyDeviceToHost));
  SUCCEED(cudaMemcpyFromSymbol(&threads, counter, 4));
  verify(got[0] == 3 * n && got[1] == 6 * n, "grid sync", got[1]);
  verify(threads == 8 * 128, "coalesced threads", threads);
  verify(managed_total == 8, "managed variable", managed_total);
  SUCCEED(cudaFree(in));
  SUCCEED(cudaFree(out));
}

__global__ void increment(int* values, int by) {
  values[blockIdx.x * blockDim.x + threadIdx.x] += by;
}

void CUDART_CB called(cudaStream_t, cudaError_t, void* data) { ++*static_cast<int*>(data); }

void streams() {
  const int n = 4 * 1024;
  int *host, *device, calls = 0;
  SUCCEED(cudaMallocHost(&host, n * 4));
  SUCCEED(cudaMalloc(&device, n * 4));
  cudaStream_t stream[4];
  cudaEvent_t start, stop;
  SUCCEED(cudaEventCreate(&start));
  SUCCEED(cudaEventCreateWithFlags(&stop, cudaEventBlockingSync));
  for (int i = 0; i < n; ++i) host[i] = i;
  SUCCEED(cudaEventRecord(start, 0));
  for (int i = 0; i < 4; ++i) {
    SUCCEED(cudaStreamCreate(&stream[i]));
    int *h = host + i * 1024, *d = device + i * 1024;
    SUCCEED(cudaMemcpyAsync(d, h, 4096, cudaMemcpyHostToDevice, stream[i]));
    increment<<<4, 256, 0, stream[i]>>>(d, 7);
    SUCCEED(cudaMemcpyAsync(h, d, 4096, cudaMemcpyDeviceToHost, stream[i]));
    SUCCEED(cudaStreamAddCallback(stream[i], called, &calls, 0));
  }
  SUCCEED(cudaEventRecord(stop, 0));
  while (cudaEventQuery(stop) == cudaErrorNotReady) {
  }
  SUCCEED(cudaEventSynchronize(stop));
  float milliseconds = -1;
  SUCCEED(cudaEventElapsedTime(&milliseconds, start, stop));
  verify(milliseconds >= 0, "elapsed time", 0);
  SUCCEED(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) verify(host[i] == i + 7, "streams", i);
  verify(calls == 4, "callbacks", calls);
  for (cudaStream_t s : stream) SUCCEED(cudaStreamDestroy(s));
  SUCCEED(cudaEventDestroy(start));
  SUCCEED(cudaEventDestroy(stop));
  SUCCEED(cudaFreeHost(host));
  SUCCEED(cudaFree(device));
}

void graph() {
  int* values;
  SUCCEED(cudaMalloc(&values, 1024));
  SUCCEED(cudaMemset(values, 0, 1024));
  cudaStream_t stream;
  SUCCEED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  SUCCEED(cudaDeviceSynchronize());
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  SUCCEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 3; ++i) increment<<<1, 256, 0, stream>>>(values, i);
  SUCCEED(cudaStreamEndCapture(stream, &graph));
  size_t nodes = 0;
  SUCCEED(cudaGraphGetNodes(graph, nullptr, &nodes));
  verify(nodes == 3, "graph nodes", long(nodes));
  SUCCEED(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 5; ++i) SUCCEED(cudaGraphLaunch(exec, stream));
  SUCCEED(cudaStreamSynchronize(stream));
  int got = 0;
  SUCCEED(cudaMemcpy(&got, values + 255, 4, cudaMemcpyDeviceToHost));
  verify(got == 15, "graph", got);
  SUCCEED(cudaGraphExecDestroy(exec));
  SUCCEED(cudaGraphDestroy(graph));
  SUCCEED(cudaStreamDestroy(stream));
  SUCCEED(cudaFree(values));
}

void memory_kinds() {
  int *mapped, *alias, *managed, *registered;
  SUCCEED(cudaSetDeviceFlags(cudaDeviceMapHost));
  SUCCEED(cudaHostAlloc(&mapped, 1024, cudaHostAllocMapped));
  SUCCEED(cudaHostGetDevicePointer(&alias, mapped, 0));
  for (int i = 0; i < 256; ++i) mapped[i] = i;
  increment<<<1, 256>>>(alias, 1);
  SUCCEED(cudaDeviceSynchronize());
  for (int i = 0; i < 256; ++i) verify(mapped[i] == i + 1, "mapped", i);
  SUCCEED(cudaMallocManaged(&managed, 1024));
  for (int i = 0; i < 256; ++i) managed[i] = i;
  cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
  SUCCEED(cudaMemAdvise(managed, 1024, cudaMemAdviseSetPreferredLocation, here));
  SUCCEED(cudaMemPrefetchAsync(managed, 1024, here, 0, nullptr));
  increment<<<1, 256>>>(managed, 2);
  SUCCEED(cudaDeviceSynchronize());
  for (int i = 0; i < 256; ++i) verify(managed[i] == i + 2, "managed", i);
  std::vector<int> plain(256, 5);
  SUCCEED(cudaHostRegister(plain.data(), 1024, cudaHostRegisterMapped));
  SUCCEED(cudaHostGetDevicePointer(&registered, plain.data(), 0));
  increment<<<1, 256>>>(registered, 3);
  SUCCEED(cudaDeviceSynchronize());
  for (int i = 0; i < 256; ++i) verify(plain[i] == 8, "registered", i);
  SUCCEED(cudaHostUnregister(plain.data()));
  cudaPointerAttributes attributes;
  SUCCEED(cudaPointerGetAttributes(&attributes, managed));
  verify(attributes.type == cudaMemoryTypeManaged, "attributes", attributes.type);
  SUCCEED(cudaFree(managed));
  SUCCEED(cudaFreeHost(mapped));
}

void query() {
  int count = 0, driver = 0, runtime = 0;
  SUCCEED(cudaGetDeviceCount(&count));
  SUCCEED(cudaDriverGetVersion(&driver));
  SUCCEED(cudaRuntimeGetVersion(&runtime));
  verify(driver >= runtime, "versions", driver);
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp p;
    SUCCEED(cudaGetDeviceProperties(&p, i));
    verify(p.warpSize == 32 && p.maxThreadsPerBlock == 1024 && p.multiProcessorCount > 0 &&
               p.major >= 8 && p.totalGlobalMem > 0 && p.sharedMemPerBlock == 49152 &&
               p.regsPerBlock == 65536 && p.memoryBusWidth > 0 && p.l2CacheSize > 0 &&
               p.maxGridSize[0] == 2147483647,
           "properties", i);
    int clock = 0;
    SUCCEED(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, i));
    verify(clock > 0, "clock rate", clock);
    char bus[32];
    SUCCEED(cudaDeviceGetPCIBusId(bus, sizeof bus, i));
    int peer = 0;
    for (int j = 0; j < count; ++j)
      if (j != i) SUCCEED(cudaDeviceCanAccessPeer(&peer, i, j));
  }
  size_t free = 0, total = 0, heap = 0;
  SUCCEED(cudaMemGetInfo(&free, &total));
  SUCCEED(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
  SUCCEED(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 22));
  int grid = 0, block = 0, least = 0, greatest = 0;
  SUCCEED(cudaOccupancyMaxPotentialBlockSize(&grid, &block, increment, 0, 0));
  verify(block >= 32, "potential block size", block);
  SUCCEED(cudaFuncSetCacheConfig(increment, cudaFuncCachePreferL1));
  SUCCEED(cudaFuncSetAttribute(convolve_rows, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  cudaFuncAttributes attributes;
  SUCCEED(cudaFuncGetAttributes(&attributes, convolve_rows));
  verify(attributes.sharedSizeBytes == 320, "shared bytes", long(attributes.sharedSizeBytes));
  SUCCEED(cudaDeviceGetStreamPriorityRange(&least, &greatest));
}

void peers() {
  int count = 0;
  SUCCEED(cudaGetDeviceCount(&count));
  if (count < 2) return;
  int *first, *second, got = 0;
  SUCCEED(cudaSetDevice(0));
  SUCCEED(cudaDeviceEnablePeerAccess(1, 0));
  SUCCEED(cudaMalloc(&first, 1024));
  SUCCEED(cudaMemset(first, 0, 1024));
  SUCCEED(cudaDeviceSynchronize());
  SUCCEED(cudaSetDevice(1));
  SUCCEED(cudaDeviceEnablePeerAccess(0, 0));
  SUCCEED(cudaMalloc(&second, 1024));
  increment<<<1, 256>>>(first, 4);
  SUCCEED(cudaDeviceSynchronize());
  SUCCEED(cudaMemcpyPeer(second, 1, first, 0, 1024));
  SUCCEED(cudaMemcpy(&got, second + 9, 4, cudaMemcpyDefault));
  verify(got == 4, "peer", got);
  SUCCEED(cudaFree(second));
  SUCCEED(cudaFree(first));
  SUCCEED(cudaSetDevice(0));
}

}  // namespace

int main() {
  SUCCEED(cudaProfilerStart());
  query();
  convolution();
  cooperative();
  streams();
  graph();
  memory_kinds();
  peers();
  SUCCEED(cudaProfilerStop());
  SUCCEED(cudaDeviceReset());
  return exit_code();
}
