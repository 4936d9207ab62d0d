// The last block reads the others' sums by __ldcg after a fence; all threads of it read.
#include "../right.h"

__device__ unsigned ticket;

__global__ void sum(const int* x, int* partial, int* result) {
  __shared__ int total;
  __shared__ bool last;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, x[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    __stcg(&partial[blockIdx.x], total);
    __threadfence();
    last = atomicAdd(&ticket, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last) atomicAdd(result, threadIdx.x < gridDim.x ? __ldcg(&partial[threadIdx.x]) : 0);
}

int main() {
  Buffer<int> x(16 * 64), partial(16), result(1);
  upload(x.data, std::vector<int>(16 * 64, 3));
  sum<<<16, 64>>>(x, partial, result);
  settle();
  EXPECT(values(result.data, 1)[0] == 3 * 16 * 64);
}
