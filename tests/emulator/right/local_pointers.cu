// Pointers to local variables, kept in memory and used by the thread that has the variables.
#include "../right.h"

constexpr int kThreads = 64;

__device__ __noinline__ int sum_of(const int* values, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += values[i];
  return sum;
}

__device__ __noinline__ void fill(int* values, int count) {
  for (int i = 0; i < count; ++i) values[i] = threadIdx.x + i;
}

__global__ void own_pointers(int** pointers, int* y) {
  __shared__ int* in_shared[kThreads];
  __shared__ int tile[kThreads];
  int values[4];
  fill(values, 4);
  tile[threadIdx.x] = threadIdx.x;
  in_shared[threadIdx.x] = values;
  pointers[threadIdx.x] = &values[3] - 1;
  __syncthreads();
  // One pointer of three spaces: local memory, shared memory of another thread, global memory.
  int* const other = &tile[(threadIdx.x + 1) % kThreads];
  int* const any = threadIdx.x % 3 == 0   ? in_shared[threadIdx.x] + 1
                   : threadIdx.x % 3 == 1 ? other
                                          : y + threadIdx.x;
  const int found = *any;
  *pointers[threadIdx.x] += 1;
  y[threadIdx.x] = found + sum_of(in_shared[threadIdx.x], 4);
}

__global__ void say(int value) {
  char text[8] = "sum ";
  text[4] = '0' + value;
  text[5] = 0;
  printf("%s\n", text);
}

int main() {
  Buffer<int> y(kThreads);
  Buffer<int*> pointers(kThreads);
  own_pointers<<<1, kThreads>>>(pointers, y);
  say<<<1, 1>>>(7);
  settle();
  const auto out = values(y.data, kThreads);
  for (int t = 0; t < kThreads; ++t) {
    const int found = t % 3 == 0 ? t + 1 : t % 3 == 1 ? (t + 1) % kThreads : 0;
    EXPECT(out[t] == found + 4 * t + 6 + 1);
  }
}
