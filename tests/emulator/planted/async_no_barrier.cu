// Each thread waits for its own copy only, and reads that of another.
#include <cuda_pipeline.h>

#include "../planted.h"

__global__ void copy(const int* x, int* y) {
  __shared__ int tile[64];
  __pipeline_memcpy_async(tile + threadIdx.x, x + threadIdx.x, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  y[threadIdx.x] = tile[63 - threadIdx.x];  // expect: race
}

int main() {
  Buffer<int> x(64), y(64);
  copy<<<1, 64>>>(x, y);
  return finish();
}
