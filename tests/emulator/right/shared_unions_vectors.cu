// A union in shared memory is used as floats, then, after a barrier, as vectors and bytes.
#include "../right.h"

union Store {
  float4 vectors[32];
  float numbers[128];
  unsigned char bytes[512];
};

__global__ void reuse(float* x, unsigned char* y) {
  __shared__ Store store;
  const int t = threadIdx.x;
  store.numbers[t] = x[t];
  __syncthreads();
  if (t < 32) {
    const float4 v = store.vectors[t];
    x[t] = v.x + v.y + v.z + v.w;
  }
  __syncthreads();
  for (int k = 0; k < 4; ++k) store.bytes[k * 128 + t] = (unsigned char)(t);
  __syncthreads();
  y[t] = store.bytes[511 - t];
}

int main() {
  Buffer<float> x(128);
  Buffer<unsigned char> y(128);
  upload(x.data, std::vector<float>(128, 1.5f));
  reuse<<<1, 128>>>(x, y);
  settle();
  EXPECT(values(x.data, 32)[31] == 6.0f);
  EXPECT(values(y.data, 128)[0] == 127);
}
