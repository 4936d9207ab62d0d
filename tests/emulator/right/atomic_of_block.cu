// Blocks count with an atomic of device scope.
#include "../planted.h"

__global__ void count(int* out) { atomicAdd(out, 1); }

int main() {
  Buffer<int> out(1);
  count<<<4, 32>>>(out);
  return finish();
}
