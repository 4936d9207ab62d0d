// A kernel fetches from a CUDA array while a copy of another stream may write it.
#include "../surface.h"

__global__ void read(cudaTextureObject_t texture, float* out, int width) {
  const int x = threadIdx.x, y = threadIdx.y;
  out[y * width + x] = tex2D<float>(texture, x + 0.5f, y + 0.5f);  // expect: stream-race
}

int main() {
  const int width = 8, height = 4;
  Surface surface(width, height);
  Buffer<float> values(width * height), out(width * height);
  CHECK(cudaDeviceSynchronize());
  cudaStream_t copies, kernels;
  CHECK(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&kernels, cudaStreamNonBlocking));
  CHECK(cudaMemcpy2DToArrayAsync(surface.array, 0, 0, values, width * 4, width * 4, height,
                                 cudaMemcpyDeviceToDevice, copies));
  read<<<1, dim3(width, height), 0, kernels>>>(texture_of(surface.array), out, width);
  const int code = finish();
  CHECK(cudaStreamDestroy(copies));
  CHECK(cudaStreamDestroy(kernels));
  return code;
}
