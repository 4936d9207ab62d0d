// Reads of memory that nothing has written.
#include <dlfcn.h>

#include "../planted.h"

__global__ void accumulate(const float* x, float* sums, int n) {
  const int i = threadIdx.x;
  if (i < n)
    sums[i] += x[i];  // expect accumulator: uninitialised
                      // expect pool_memory: uninitialised
                      // expect grown: uninitialised
                      // expect used_again: uninitialised
                      // expect partial_copy: uninitialised
}

__global__ void count(const int* x, int* bins, int n) {
  const int i = threadIdx.x;
  if (i < n) atomicAdd(&bins[x[i] & 7], 1);  // expect atomic_bins: uninitialised
}

__global__ void shared_tail(const float* x, float* y, int n) {
  __shared__ float tile[128];
  const int t = threadIdx.x;
  if (t < n) tile[t] = x[t];
  __syncthreads();
  for (int s = 64; s > 0; s /= 2) {
    if (t < s) tile[t] += tile[t + s];  // expect shared_tail: uninitialised
    __syncthreads();
  }
  if (t == 0) *y = tile[0];
}

__global__ void shared_counter(int* out) {
  __shared__ int counter;
  atomicAdd(&counter, 1);  // expect shared_counter: uninitialised
  __syncthreads();
  if (threadIdx.x == 0) *out = counter;
}

__global__ void halo(const float* x, float* y) {
  __shared__ float tile[66];
  const int t = threadIdx.x;
  tile[t + 1] = x[t];
  __syncthreads();
  y[t] = tile[t] + tile[t + 1] + tile[t + 2];  // expect halo: uninitialised
}

__global__ void local_bins(const int* x, int* y, int n) {
  int bins[16];
  for (int i = 0; i < n; ++i) bins[x[i] & 15] = i;
  int sum = 0;
  for (int i = 0; i < 16; ++i) sum += bins[(i + n) & 15];  // expect local_array: uninitialised
  y[threadIdx.x] = sum;
}

struct Item {
  char flag;
  int value;
};
__global__ void fill(Item* items, int n) {
  const int i = threadIdx.x;
  if (i < n) items[i].flag = 1;
}
__global__ void sum_items(const Item* items, int* sum) {
  const int i = threadIdx.x;
  if (items[i].flag) atomicAdd(sum, items[i].value);  // expect member: uninitialised
}

__global__ void produce(float* x, int n) {
  const int i = 2 * threadIdx.x;
  if (i < n) x[i] = 1;
}
__global__ void consume(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (i < n) y[i] = x[i];  // expect every_second: uninitialised
}

__global__ void padded(const float* x, float* y, int columns, int pitch) {
  float sum = 0;
  for (int i = 0; i < pitch; ++i)
    sum += x[threadIdx.x * pitch + i];  // expect padding: uninitialised
  y[threadIdx.x] = sum;
}

__global__ void vectors(const float4* x, float4* y) {
  float4 v = x[threadIdx.x];  // expect vector: uninitialised
  v.x += v.w;
  y[threadIdx.x] = v;
}

void accumulator() {
  Buffer<float> x(64);
  float* sums = nullptr;
  CHECK(cudaMalloc(&sums, 64 * sizeof(float)));
  accumulate<<<1, 64>>>(x, sums, 64);
  finish();
  cudaFree(sums);
}

void pool_memory() {
  Buffer<float> x(64);
  float* sums = nullptr;
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaMallocAsync(&sums, 64 * sizeof(float), 0));
    if (i == 0) CHECK(cudaMemsetAsync(sums, 0, 64 * sizeof(float), 0));
    accumulate<<<1, 64>>>(x, sums, 64);
    CHECK(cudaFreeAsync(sums, 0));
  }
  finish();
}

/// Memory of the program's own allocator, which hands out the same block again.
void used_again() {
  using Forget = void (*)(void*, std::size_t);
  const auto forget =
      reinterpret_cast<Forget>(dlsym(RTLD_DEFAULT, "halfgrad_emulate_forget_contents"));
  Buffer<float> x(64), sums(64);
  CHECK(cudaMemset(sums, 0, 64 * sizeof(float)));
  accumulate<<<1, 64>>>(x, sums, 64);
  finish();
  if (forget != nullptr) forget(sums, 64 * sizeof(float));
  accumulate<<<1, 64>>>(x, sums, 64);
  finish();
}

void grown() {
  Buffer<float> x(128);
  float *old = nullptr, *sums = nullptr;
  CHECK(cudaMalloc(&old, 64 * sizeof(float)));
  CHECK(cudaMemset(old, 0, 64 * sizeof(float)));
  CHECK(cudaMalloc(&sums, 128 * sizeof(float)));
  CHECK(cudaMemcpy(sums, old, 64 * sizeof(float), cudaMemcpyDeviceToDevice));
  accumulate<<<1, 128>>>(x, sums, 128);
  finish();
  cudaFree(old);
  cudaFree(sums);
}

void partial_copy() {
  Buffer<float> x(64);
  float* sums = nullptr;
  const float host[64] = {};
  CHECK(cudaMalloc(&sums, 64 * sizeof(float)));
  CHECK(cudaMemcpy(sums, host, 64, cudaMemcpyHostToDevice));
  accumulate<<<1, 64>>>(x, sums, 64);
  finish();
  cudaFree(sums);
}

void atomic_bins() {
  Buffer<int> x(64);
  int* bins = nullptr;
  CHECK(cudaMalloc(&bins, 8 * sizeof(int)));
  count<<<1, 64>>>(x, bins, 64);
  finish();
  cudaFree(bins);
}

void member() {
  Buffer<int> sum(1);
  Item* items = nullptr;
  CHECK(cudaMalloc(&items, 32 * sizeof(Item)));
  fill<<<1, 32>>>(items, 32);
  sum_items<<<1, 32>>>(items, sum);
  finish();
  cudaFree(items);
}

void every_second() {
  Buffer<float> y(64);
  float* x = nullptr;
  CHECK(cudaMalloc(&x, 64 * sizeof(float)));
  produce<<<1, 64>>>(x, 64);
  consume<<<1, 64>>>(x, y, 64);
  finish();
  cudaFree(x);
}

void padding() {
  Buffer<float> y(8);
  float* x = nullptr;
  std::size_t pitch = 0;
  const float host[8 * 50] = {};
  CHECK(cudaMallocPitch(&x, &pitch, 50 * sizeof(float), 8));
  CHECK(cudaMemcpy2D(x, pitch, host, 200, 200, 8, cudaMemcpyHostToDevice));
  padded<<<1, 8>>>(x, y, 50, static_cast<int>(pitch / sizeof(float)));
  finish();
  cudaFree(x);
}

void vector() {
  Buffer<float4> y(32);
  float4* x = nullptr;
  CHECK(cudaMalloc(&x, 32 * sizeof(float4)));
  CHECK(cudaMemset(x, 0, 16 * sizeof(float4)));
  vectors<<<1, 32>>>(x, y);
  finish();
  cudaFree(x);
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"accumulator", accumulator},
                   {"pool_memory", pool_memory},
                   {"used_again", used_again},
                   {"grown", grown},
                   {"partial_copy", partial_copy},
                   {"atomic_bins", atomic_bins},
                   {"shared_tail",
                    [] {
                      Buffer<float> x(100), y(1);
                      shared_tail<<<1, 128>>>(x, y, 100);
                      finish();
                    }},
                   {"shared_counter",
                    [] {
                      Buffer<int> y(1);
                      shared_counter<<<1, 64>>>(y);
                      finish();
                    }},
                   {"halo",
                    [] {
                      Buffer<float> x(64), y(64);
                      halo<<<1, 64>>>(x, y);
                      finish();
                    }},
                   {"local_array",
                    [] {
                      Buffer<int> x(10), y(1);
                      local_bins<<<1, 1>>>(x, y, 10);
                      finish();
                    }},
                   {"member", member},
                   {"every_second", every_second},
                   {"padding", padding},
                   {"vector", vector}});
}
