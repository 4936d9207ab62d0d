// The reader has no fence after it saw the flag.
#include "../planted.h"

__global__ void pass(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;
    __threadfence();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    *out = *data;  // expect: race
  }
}

int main() {
  Buffer<int> data(1), flag(1), out(1);
  pass<<<2, 1>>>(data, flag, out);
  return finish();
}
