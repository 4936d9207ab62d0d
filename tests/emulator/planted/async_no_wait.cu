// A copy to shared memory is read before it was waited for.
#include <cuda_pipeline.h>

#include "../planted.h"

__global__ void copy(const int* x, int* y) {
  __shared__ int tile[64];
  __pipeline_memcpy_async(tile + threadIdx.x, x + threadIdx.x, 4);
  __pipeline_commit();
  y[threadIdx.x] = tile[threadIdx.x];  // expect: async-copy
}

int main() {
  Buffer<int> x(64), y(64);
  copy<<<1, 64>>>(x, y);
  return finish();
}
