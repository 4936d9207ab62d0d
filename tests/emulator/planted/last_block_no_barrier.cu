// One thread counts the block, though no barrier says that the others have stored and fenced.
#include "../planted.h"

constexpr int kBlocks = 8, kThreads = 64;

__global__ void sums(float* parts, unsigned* finished, float* result) {
  __shared__ bool last;
  parts[blockIdx.x * kThreads + threadIdx.x] = 1;  // expect: race
  __threadfence();
  if (threadIdx.x == 0) last = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  float sum = 0;
  for (int block = 0; block < kBlocks; ++block) {
    sum += parts[block * kThreads + threadIdx.x];  // expect: race
  }
  result[threadIdx.x] = sum;
}

int main() {
  Buffer<float> parts(kBlocks * kThreads), result(kThreads);
  Buffer<unsigned> finished(1);
  sums<<<kBlocks, kThreads>>>(parts, finished, result);
  return finish();
}
