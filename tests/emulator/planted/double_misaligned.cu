// A double is stored to an address that is no multiple of 8.
#include "../planted.h"

__global__ void store(char* x) {
  *reinterpret_cast<double*>(x + 12 * threadIdx.x) = 1;  // expect: misaligned
}

int main() {
  Buffer<char> x(1024);
  store<<<1, 32>>>(x);
  return finish();
}
