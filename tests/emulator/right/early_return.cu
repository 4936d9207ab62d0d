// Threads without work return before the barrier of the others, which waits for these only.
#include "../right.h"

__global__ void reverse(const int* x, int* y, int n) {
  __shared__ int tile[128];
  const int i = threadIdx.x;
  if (i >= n) return;
  tile[i] = x[i];
  __syncthreads();
  y[i] = tile[n - 1 - i];
}

int main() {
  Buffer<int> x(128), y(128);
  for (const int n : {128, 96, 50, 1}) {
    std::vector<int> host(128);
    for (int i = 0; i < 128; ++i) host[i] = i;
    upload(x.data, host);
    reverse<<<1, 128>>>(x, y, n);
    settle();
    EXPECT(values(y.data, 128)[0] == n - 1);
  }
}
