// The second of two launches uses a texture object that the host has destroyed between them.
#include "../surface.h"

__global__ void read(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);  // expect: use-after-free
}

int main() {
  Buffer<float> values(64), out(64);
  const cudaTextureObject_t texture = texture_of(values.data, 64);
  read<<<1, 64>>>(texture, out);
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaDeviceSynchronize());
  read<<<1, 64>>>(texture, out);
  return finish();
}
