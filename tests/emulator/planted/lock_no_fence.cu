// A spin lock has no fences.
#include "../planted.h"

__global__ void add(int* lock, int* sum) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    *sum += 1;  // expect: race
    atomicExch(lock, 0);
  }
}

int main() {
  Buffer<int> lock(1), sum(1);
  add<<<8, 32>>>(lock, sum);
  return finish();
}
