// Programmatic dependent launches that wait before they touch what earlier kernels touch. Gpu: h100
#include "../right.h"

// The weights come from a kernel that ended before the one that this kernel overlaps began.
__global__ void scale(const int* weights, const int* x, int* y) {
  const int weight = weights[threadIdx.x];
  if (threadIdx.x == 0) cudaGridDependencySynchronize();
  __syncthreads();
  y[threadIdx.x] = weight * x[threadIdx.x];
  cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void fill(int* x, int value) { x[threadIdx.x] = value; }

template <class... Parameters>
void launch_dependent(cudaStream_t stream, void (*kernel)(Parameters...),
                      Parameters... parameters) {
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(64);
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = 1;
  EXPECT(cudaLaunchKernelEx(&config, kernel, parameters...) == cudaSuccess);
}

int main() {
  Buffer<int> weights(64), x(64), y(64);
  cudaStream_t stream;
  EXPECT(cudaStreamCreate(&stream) == cudaSuccess);
  fill<<<1, 64, 0, stream>>>(weights, 3);
  fill<<<1, 64, 0, stream>>>(x, 2);
  for (int i = 0; i < 2; ++i) {
    launch_dependent<const int*, const int*, int*>(stream, scale, weights, x, y);
    launch_dependent<const int*, const int*, int*>(stream, scale, weights, y, x);
  }
  // A launch without the attribute, and a copy, wait for all kernels of the stream.
  fill<<<1, 64, 0, stream>>>(weights, 1);
  EXPECT(cudaMemcpyAsync(y.data, x.data, 64 * sizeof(int), cudaMemcpyDeviceToDevice, stream) ==
         cudaSuccess);
  settle();
  for (const int value : values(y.data, 64)) EXPECT(value == 2 * 81);
  EXPECT(cudaStreamDestroy(stream) == cudaSuccess);
}
