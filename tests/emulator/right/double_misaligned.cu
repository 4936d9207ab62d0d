// A double is stored to multiples of 8.
#include "../planted.h"

__global__ void store(char* x) { *reinterpret_cast<double*>(x + 16 * threadIdx.x) = 1; }

int main() {
  Buffer<char> x(1024);
  store<<<1, 32>>>(x);
  return finish();
}
