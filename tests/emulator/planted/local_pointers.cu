// Pointers to local variables that other threads use.
#include "../planted.h"

constexpr int kThreads = 64;

__global__ void through_shared(int* y) {
  __shared__ volatile int* shared;
  volatile int value[2] = {int(threadIdx.x), 1};
  if (threadIdx.x == 0) shared = value;
  __syncthreads();
  y[threadIdx.x] = shared[threadIdx.x % 2];  // expect through_shared: out-of-bounds
}

__global__ void through_global(int** pointers, int* y) {
  int value[2] = {int(threadIdx.x), 1};
  pointers[threadIdx.x] = value;
  __syncthreads();
  *pointers[(threadIdx.x + 1) % kThreads] += 1;  // expect through_global: out-of-bounds
  __syncthreads();
  y[threadIdx.x] = value[threadIdx.x % 2];
}

__global__ void by_shuffle(int* y) {
  volatile int value[2] = {int(threadIdx.x), 1};
  const auto address = reinterpret_cast<unsigned long long>(&value[threadIdx.x % 2]);
  const auto first = __shfl_sync(~0u, address, 0);
  y[threadIdx.x] = *reinterpret_cast<volatile int*>(first);  // expect by_shuffle: out-of-bounds
}

__global__ void keep(int** pointers) {
  int value[2] = {int(threadIdx.x), 1};
  pointers[threadIdx.x] = &value[threadIdx.x % 2];
  __syncthreads();
  *pointers[threadIdx.x] = 3;
}

__global__ void use(int** pointers, int* y) {
  y[threadIdx.x] = *pointers[threadIdx.x + 1];  // expect by_later_kernel: out-of-bounds
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"through_shared",
                    [] {
                      Buffer<int> y(kThreads);
                      through_shared<<<1, kThreads>>>(y);
                      finish();
                    }},
                   {"through_global",
                    [] {
                      Buffer<int> y(kThreads);
                      Buffer<int*> pointers(kThreads);
                      through_global<<<1, kThreads>>>(pointers, y);
                      finish();
                    }},
                   {"by_shuffle",
                    [] {
                      Buffer<int> y(kThreads);
                      by_shuffle<<<1, kThreads>>>(y);
                      finish();
                    }},
                   {"by_later_kernel", [] {
                      Buffer<int> y(kThreads);
                      Buffer<int*> pointers(kThreads);
                      keep<<<1, kThreads>>>(pointers);
                      use<<<1, kThreads / 2>>>(pointers, y);
                      finish();
                    }}});
}
