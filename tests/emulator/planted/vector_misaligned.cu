// A float4 is loaded from an address that is no multiple of 16.
#include "../planted.h"

__global__ void load(const float* x, float* y) {
  const float4 v = *reinterpret_cast<const float4*>(x + 4 * threadIdx.x + 1);  // expect: misaligned
  y[threadIdx.x] = v.x + v.y + v.z + v.w;
}

int main() {
  Buffer<float> x(256), y(32);
  load<<<1, 32>>>(x, y);
  return finish();
}
