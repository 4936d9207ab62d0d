// 32-bit words of shared memory are read at multiples of 4.
#include "../planted.h"

__global__ void words(int* out) {
  __shared__ alignas(16) char bytes[256];
  for (int i = threadIdx.x; i < 256; i += 32) bytes[i] = static_cast<char>(i);
  __syncthreads();
  out[threadIdx.x] = *reinterpret_cast<int*>(bytes + 4 * threadIdx.x);
}

int main() {
  Buffer<int> out(32);
  words<<<1, 32>>>(out);
  return finish();
}
