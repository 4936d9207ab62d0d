// threadFenceReduction: the last block adds what the others wrote, read through volatile.
#include "../right.h"

__device__ unsigned ticket = 0;

__global__ void sum(const int* x, volatile int* partial, int* result) {
  __shared__ int total;
  __shared__ bool last;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, x[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = total;
    __threadfence();
    last = atomicInc(&ticket, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += partial[b];
    *result = sum;
    ticket = 0;
  }
}

int main() {
  Buffer<int> x(16 * 64), partial(16), result(1);
  upload(x.data, std::vector<int>(16 * 64, 3));
  for (int repeat = 0; repeat < 3; ++repeat) {
    sum<<<16, 64>>>(x, partial, result);
    settle();
    EXPECT(values(result.data, 1)[0] == 3 * 16 * 64);
  }
}
