// A flag between blocks is a plain store and a plain load.
#include "../planted.h"

__global__ void pass(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;
    __threadfence();
    *flag = 1;  // expect: race
  } else {
    if (*flag == 1) *out = 1;  // expect: race
  }
}

int main() {
  Buffer<int> data(1), flag(1), out(1);
  pass<<<2, 1>>>(data, flag, out);
  return finish();
}
