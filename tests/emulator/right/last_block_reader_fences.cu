// The last block adds the partial sums of all blocks. Each thread fences what it stored, and one
// thread counts the block after a barrier. On the other side, all readers fence, or only the thread
// that counted: fences of __threadfence() are ordered among each other.
#include "../right.h"

constexpr int kBlocks = 8, kThreads = 64;

template <bool AllFence>
__global__ void sums(float* parts, unsigned* finished, float* result) {
  __shared__ bool last;
  parts[blockIdx.x * kThreads + threadIdx.x] = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;
    if (!AllFence) __threadfence();
  }
  __syncthreads();
  if (!last) return;
  if (AllFence) __threadfence();
  float sum = 0;
  for (int block = 0; block < kBlocks; ++block) {
    sum += parts[block * kThreads + (threadIdx.x + 1) % kThreads];
  }
  result[threadIdx.x] = sum;
}

int main() {
  Buffer<float> parts(kBlocks * kThreads), result(kThreads);
  Buffer<unsigned> finished(1);
  for (auto* kernel : {sums<true>, sums<false>}) {
    kernel<<<kBlocks, kThreads>>>(parts, finished, result);
    settle();
    for (const float sum : values(result.data, kThreads)) EXPECT(sum == kBlocks);
  }
}
