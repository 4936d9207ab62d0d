// A flag between blocks is a volatile word with fences around it.
#include "../planted.h"

__global__ void pass(int* data, volatile int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    *out = *data;
  }
}

int main() {
  Buffer<int> data(1), flag(1), out(1);
  pass<<<2, 1>>>(data, flag, out);
  return finish();
}
