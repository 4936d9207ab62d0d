// Loads through the read-only cache: of an input, of what an earlier kernel stored, and of elements
// that the same thread overwrites afterwards.
#include "../right.h"

constexpr int kThreads = 64;

__global__ void add(const int* __restrict__ x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __ldg(x + i) + 1;
}

int main() {
  Buffer<int> x(4 * kThreads), y(4 * kThreads);
  add<<<4, kThreads>>>(x, y, 4 * kThreads);
  add<<<4, kThreads>>>(y, x, 4 * kThreads);
  add<<<4, kThreads>>>(x, x, 4 * kThreads);  // in place
  settle();
  for (const int value : values(x.data, 4 * kThreads)) EXPECT(value == 3);
}
