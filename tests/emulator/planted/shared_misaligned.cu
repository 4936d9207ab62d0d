// A 32-bit word of shared memory is read at an odd byte.
#include "../planted.h"

__global__ void words(int* out) {
  __shared__ alignas(16) char bytes[256];
  for (int i = threadIdx.x; i < 256; i += 32) bytes[i] = static_cast<char>(i);
  __syncthreads();
  out[threadIdx.x] = *reinterpret_cast<int*>(bytes + threadIdx.x);  // expect: misaligned
}

int main() {
  Buffer<int> out(32);
  words<<<1, 32>>>(out);
  return finish();
}
