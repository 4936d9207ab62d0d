// A texture reads a CUDA array whose last row was never copied.
#include "../surface.h"

__global__ void read(cudaTextureObject_t texture, float* out, int width) {
  const int x = threadIdx.x, y = threadIdx.y;
  out[y * width + x] = tex2D<float>(texture, x + 0.5f, y + 0.5f);  // expect: uninitialised
}

int main() {
  const int width = 8, height = 4;
  std::vector<float> values(width * height);
  cudaArray_t array = nullptr;
  const auto format = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocArray(&array, &format, width, height));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, values.data(), width * 4, width * 4, height - 1,
                            cudaMemcpyHostToDevice));
  Buffer<float> out(width * height);
  read<<<1, dim3(width, height)>>>(texture_of(array), out, width);
  const int code = finish();
  CHECK(cudaFreeArray(array));
  return code;
}
