// A warp sums through shared memory, with __syncwarp between reading and writing.
#include "../right.h"

__global__ void sum(const int* x, int* result) {
  __shared__ int buffer[128];
  const int i = threadIdx.x, lane = i % 32;
  buffer[i] = x[blockIdx.x * 128 + i];
  __syncwarp();
  for (int step = 16; step > 0; step /= 2) {
    const int other = lane < step ? buffer[i + step] : 0;
    __syncwarp();
    buffer[i] += other;
    __syncwarp();
  }
  if (lane == 0) result[blockIdx.x * 4 + i / 32] = buffer[i];
}

int main() {
  std::vector<int> host(512);
  for (int i = 0; i < 512; ++i) host[i] = i;
  Buffer<int> x(512), result(16);
  upload(x.data, host);
  sum<<<4, 128>>>(x, result);
  settle();
  const auto sums = values(result.data, 16);
  for (int w = 0; w < 16; ++w) EXPECT(sums[w] == 32 * (w * 32) + 31 * 16);
}
