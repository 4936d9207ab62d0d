// A cooperative launch exchanges values between blocks after grid.sync().
#include <cooperative_groups.h>

#include "../planted.h"

__global__ void exchange(int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = i;
  cooperative_groups::this_grid().sync();
  y[i] = x[gridDim.x * blockDim.x - 1 - i];
}

int main() {
  Buffer<int> x(256), y(256);
  void* arguments[] = {&x.data, &y.data};
  CHECK(cudaLaunchCooperativeKernel(exchange, dim3(4), dim3(64), arguments, 0, nullptr));
  return finish();
}
