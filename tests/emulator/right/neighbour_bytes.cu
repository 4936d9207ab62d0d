// Neighbouring threads store bytes and halves of one word, in shared and in global memory.
#include "../right.h"

__global__ void bytes(unsigned char* y, unsigned short* z) {
  __shared__ unsigned char buffer[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  buffer[threadIdx.x] = (unsigned char)(i % 251);
  y[i] = (unsigned char)(i % 7);
  __syncthreads();
  z[i] = (unsigned short)(buffer[(threadIdx.x + 1) % blockDim.x] << 8 | buffer[threadIdx.x]);
}

int main() {
  Buffer<unsigned char> y(333);
  Buffer<unsigned short> z(334);
  bytes<<<9, 37>>>(y, z);  // 37: blocks meet within a word
  settle();
  bytes<<<3, 111>>>(y, z);
  settle();
  const auto host = values(y.data, 333);
  for (int i = 0; i < 333; ++i) EXPECT(host[i] == i % 7);
}
