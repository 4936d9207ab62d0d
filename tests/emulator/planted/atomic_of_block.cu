// Blocks count with an atomic of block scope.
#include "../planted.h"

__global__ void count(int* out) {
  atomicAdd_block(out, 1);  // expect: race
}

int main() {
  Buffer<int> out(1);
  count<<<4, 32>>>(out);
  return finish();
}
