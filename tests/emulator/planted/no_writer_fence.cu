// The writer has no fence before its flag.
#include "../planted.h"

__global__ void pass(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    *out = *data;  // expect: race
  }
}

int main() {
  Buffer<int> data(1), flag(1), out(1);
  pass<<<2, 1>>>(data, flag, out);
  return finish();
}
