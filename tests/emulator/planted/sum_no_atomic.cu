// Blocks add to one element without an atomic.
#include "../planted.h"

__global__ void sum(int* out) {
  if (threadIdx.x == 0) *out += blockIdx.x;  // expect: race
}

int main() {
  Buffer<int> out(1);
  sum<<<8, 32>>>(out);
  return finish();
}
