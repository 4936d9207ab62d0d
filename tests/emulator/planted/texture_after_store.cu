// A barrier orders fetches after stores of the same launch, but texture caches may keep old values.
#include "../surface.h"

__global__ void twice(cudaTextureObject_t texture, float* values, float* out) {
  const int i = threadIdx.x;
  values[i] *= 2;
  __syncthreads();
  out[i] = tex1Dfetch<float>(texture, 63 - i);  // expect: race
}

int main() {
  Buffer<float> values(64), out(64);
  const cudaTextureObject_t texture = texture_of(values.data, 64);
  twice<<<1, 64>>>(texture, values, out);
  return finish();
}
