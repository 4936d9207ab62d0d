// Hints for managed memory, and their queries. A counter in shared memory begins with an exchange.
#include "../right.h"

__global__ void count(int* total) {
  __shared__ int counter;
  if (threadIdx.x == 0) atomicExch(&counter, 0);
  __syncthreads();
  atomicAdd(&counter, 1);
  __syncthreads();
  if (threadIdx.x == 0) *total = counter;
}

int main() {
  int* total;
  CHECK(cudaMallocManaged(&total, 4096));
#if CUDART_VERSION >= 13000
  const cudaMemLocation device{cudaMemLocationTypeDevice, 0};
  const cudaMemLocation host{cudaMemLocationTypeHost, 0};
  CHECK(cudaMemPrefetchAsync(total, 4096, device, 0, nullptr));
#else
  const int device = 0, host = cudaCpuDeviceId;
  CHECK(cudaMemPrefetchAsync(total, 4096, device, nullptr));
#endif
  CHECK(cudaMemAdvise(total, 4096, cudaMemAdviseSetReadMostly, device));
  CHECK(cudaMemAdvise(total, 4096, cudaMemAdviseSetPreferredLocation, host));
  CHECK(cudaMemAdvise(total, 4096, cudaMemAdviseSetAccessedBy, device));
  int read_mostly = 0, preferred = 0, prefetched = -5, accessed_by[2];
  CHECK(cudaMemRangeGetAttribute(&read_mostly, sizeof(int), cudaMemRangeAttributeReadMostly, total,
                                 4096));
  void* data[] = {&preferred, &prefetched, accessed_by};
  std::size_t sizes[] = {sizeof(int), sizeof(int), sizeof accessed_by};
  cudaMemRangeAttribute attributes[] = {cudaMemRangeAttributePreferredLocation,
                                        cudaMemRangeAttributeLastPrefetchLocation,
                                        cudaMemRangeAttributeAccessedBy};
  CHECK(cudaMemRangeGetAttributes(data, sizes, attributes, 3, total, 4096));
  EXPECT(read_mostly == 1 && preferred == cudaCpuDeviceId && prefetched == 0);
  EXPECT(accessed_by[0] == 0 && accessed_by[1] == cudaInvalidDeviceId);
  count<<<1, 128>>>(total);
  settle();
  EXPECT(*total == 128);
#if CUDART_VERSION >= 13000
  // Two copies and a prefetch as batches.
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  void* to[] = {total + 1, total + 2};
  const void* from[] = {total, total};
  std::size_t bytes[] = {sizeof(int), sizeof(int)}, first = 0, all = 4096;
  cudaMemcpyAttributes order{};
  order.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  CHECK(cudaMemcpyBatchAsync(to, from, bytes, 2, &order, &first, 1, stream));
  cudaMemLocation back = host;
  void* range = total;
  CHECK(cudaMemPrefetchBatchAsync(&range, &all, 1, &back, &first, 1, 0, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(total[1] == 128 && total[2] == 128);
  CHECK(cudaMemRangeGetAttribute(&prefetched, sizeof(int),
                                 cudaMemRangeAttributeLastPrefetchLocation, total, 4096));
  EXPECT(prefetched == cudaCpuDeviceId);
  CHECK(cudaStreamDestroy(stream));
#endif
  CHECK(cudaFree(total));
}
