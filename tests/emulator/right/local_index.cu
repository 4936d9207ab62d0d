// An index into a local array stays inside.
#include "../planted.h"

__global__ void local(int* x, int k) {
  int values[8];
  for (int i = 0; i < 8; ++i) values[i] = x[i];
  values[threadIdx.x % 8] = 1;
  x[threadIdx.x + 8] = values[k % 8];
}

int main() {
  Buffer<int> x(64);
  local<<<1, 32>>>(x, 50);
  return finish();
}
