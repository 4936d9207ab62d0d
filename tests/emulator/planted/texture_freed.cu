// A texture object outlives the memory that it reads.
#include "../surface.h"

__global__ void read(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);  // expect: use-after-free
}

int main() {
  Buffer<float> out(64);
  float* values = nullptr;
  CHECK(cudaMalloc(&values, 64 * sizeof(float)));
  CHECK(cudaMemset(values, 0, 64 * sizeof(float)));
  const cudaTextureObject_t texture = texture_of(values, 64);
  CHECK(cudaFree(values));
  read<<<1, 64>>>(texture, out);
  return finish();
}
