// The last block is partial: threads past the end still reach the barriers.
#include "../right.h"

__global__ void sum(const float* x, float* result, int n) {
  __shared__ float buffer[128];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  buffer[t] = i < n ? __ldg(&x[i]) : 0.0f;
  __syncthreads();
  for (int step = 64; step > 0; step /= 2) {
    if (t < step) buffer[t] += buffer[t + step];
    __syncthreads();
  }
  if (t == 0) result[blockIdx.x] = buffer[0];
}

int main() {
  for (int n : {1, 31, 127, 128, 129, 1000}) {
    const int blocks = (n + 127) / 128;
    Buffer<float> x(n), result(blocks);
    upload(x.data, std::vector<float>(n, 1.0f));
    sum<<<blocks, 128>>>(x, result, n);
    settle();
    float total = 0;
    for (float part : values(result.data, blocks)) total += part;
    EXPECT(total == float(n));
  }
}
