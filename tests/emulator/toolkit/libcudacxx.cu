// libcu++'s atomics, barriers, pipelines, semaphores and latches.
#include "verify.h"

#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/complex>
#include <cuda/std/tuple>

namespace cg = cooperative_groups;

namespace {

__device__ int handed_over[32];
__device__ cuda::atomic<int, cuda::thread_scope_device> ready(0);
__device__ cuda::binary_semaphore<cuda::thread_scope_device> lock(1);
__device__ int guarded;

__global__ void references(int* sum, int* largest) {
  cuda::atomic_ref<int, cuda::thread_scope_device> total(*sum), maximum(*largest);
  total.fetch_add(int(threadIdx.x), cuda::std::memory_order_relaxed);
  maximum.fetch_max(int(blockIdx.x * blockDim.x + threadIdx.x));
}

__global__ void message(int* out) {
  if (blockIdx.x == 0) {
    handed_over[threadIdx.x] = int(threadIdx.x) * 3;
    __syncthreads();
    if (threadIdx.x == 0) ready.store(1, cuda::std::memory_order_release);
  } else {
    if (threadIdx.x == 0)
      while (ready.load(cuda::std::memory_order_acquire) == 0) {
      }
    __syncthreads();
    out[threadIdx.x] = handed_over[threadIdx.x];
  }
}

__global__ void exclusion() {
  if (threadIdx.x % 32 != 0) return;
  lock.acquire();
  guarded = guarded + 1;
  lock.release();
}

__global__ void arrivals(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int values[128];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  for (int round = 0; round < 4; ++round) {
    values[threadIdx.x] = int(threadIdx.x) + round;
    auto token = barrier.arrive();
    barrier.wait(std::move(token));
    out[threadIdx.x] = values[127 - threadIdx.x];
    barrier.arrive_and_wait();
  }
}

__global__ void stages(const int* in, int* out, int batches) {
  constexpr int kStages = 2;
  __shared__ int buffer[kStages][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  cg::thread_block block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  int fetched = 0, sum = 0;
  for (int batch = 0; batch < batches; ++batch) {
    for (; fetched < batches && fetched < batch + kStages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, buffer[fetched % kStages], in + fetched * 128,
                         cuda::aligned_size_t<16>(512), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    sum += buffer[batch % kStages][127 - threadIdx.x];
    pipeline.consumer_release();
  }
  out[threadIdx.x] = sum;
}

__global__ void latches(int* out) {
  using Latch = cuda::latch<cuda::thread_scope_block>;
  __shared__ alignas(Latch) unsigned char storage[sizeof(Latch)];
  __shared__ int value;
  Latch& latch = *reinterpret_cast<Latch*>(storage);
  if (threadIdx.x == 0) new (storage) Latch(1);
  __syncthreads();
  if (threadIdx.x == 0) {
    value = 11;
    latch.count_down();
  }
  latch.wait();
  out[threadIdx.x] = value;
}

__global__ void numbers(float* out) {
  cuda::std::complex<float> z(float(threadIdx.x), 1.0f);
  z = z * z + cuda::std::complex<float>(1.0f, 2.0f);
  auto pair = cuda::std::make_tuple(z.real(), z.imag());
  out[threadIdx.x] = cuda::std::get<0>(pair) + cuda::std::get<1>(pair);
}

std::vector<int> read(const int* device, int count) {
  std::vector<int> host(count);
  SUCCEED(cudaMemcpy(host.data(), device, count * 4, cudaMemcpyDeviceToHost));
  return host;
}

}  // namespace

int main() {
  int *out, *in;
  const int batches = 5;
  SUCCEED(cudaMalloc(&out, 4096));
  SUCCEED(cudaMemset(out, 0, 4096));
  SUCCEED(cudaMalloc(&in, batches * 512));
  std::vector<int> host(batches * 128);
  for (size_t i = 0; i < host.size(); ++i) host[i] = int(i);
  SUCCEED(cudaMemcpy(in, host.data(), batches * 512, cudaMemcpyHostToDevice));
  references<<<4, 100>>>(out, out + 1);
  verify(read(out, 2) == std::vector<int>({4 * 4950, 399}), "atomic_ref", 400);
  message<<<2, 32>>>(out);
  for (int i = 0; i < 32; ++i) verify(read(out, 32)[i] == 3 * i, "release and acquire", i);
  exclusion<<<8, 64>>>();
  int count = 0;
  SUCCEED(cudaMemcpyFromSymbol(&count, guarded, 4));
  verify(count == 16, "binary_semaphore", count);
  arrivals<<<1, 128>>>(out);
  for (int i = 0; i < 128; ++i) verify(read(out, 128)[i] == 127 - i + 3, "barrier", i);
  stages<<<1, 128>>>(in, out, batches);
  for (int i = 0; i < 128; ++i) {
    int sum = 0;
    for (int b = 0; b < batches; ++b) sum += b * 128 + 127 - i;
    verify(read(out, 128)[i] == sum, "pipeline", i);
  }
  latches<<<1, 64>>>(out);
  for (int i = 0; i < 64; ++i) verify(read(out, 64)[i] == 11, "latch", i);
  numbers<<<1, 32>>>(reinterpret_cast<float*>(out));
  std::vector<float> floats(32);
  SUCCEED(cudaMemcpy(floats.data(), out, 128, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i)
    verify(floats[i] == float(i * i) + 2.0f * float(i) + 2, "complex", i);
  SUCCEED(cudaFree(in));
  SUCCEED(cudaFree(out));
  return exit_code();
}
