// Programmatic dependent launches that do not wait for the kernel before them. Gpu: h100
#include "../planted.h"

__global__ void fill(int* x, bool wait) {
  if (wait) cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
  x[threadIdx.x] = 1;  // expect overwritten: stream-race
}

__global__ void copy(const int* x, int* y, bool wait) {
  if (wait) cudaGridDependencySynchronize();
  y[threadIdx.x] = x[threadIdx.x ^ 1];  // expect without_wait: stream-race
  // expect behind_another: stream-race
}

// The wait comes after the first read.
__global__ void copy_scaled(const int* factor, const int* x, int* y) {
  const int scale = factor[0];  // expect late_wait: stream-race
  cudaGridDependencySynchronize();
  y[threadIdx.x] = scale * x[threadIdx.x];
}

template <class... Parameters>
void launch_dependent(void (*kernel)(Parameters...), Parameters... parameters) {
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(64);
  config.attrs = &overlap;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, kernel, parameters...));
}

int main(int count, char** arguments) {
  static const auto with_buffers = [](void (*run)(int*, int*, int*)) {
    Buffer<int> x(64), y(64), z(64);
    run(x, y, z);
    CHECK(cudaDeviceSynchronize());
  };
  return run_case(count, arguments,
                  {{"without_wait",
                    [] {
                      with_buffers([](int* x, int* y, int*) {
                        fill<<<1, 64>>>(x, false);
                        launch_dependent<const int*, int*, bool>(copy, x, y, false);
                      });
                    }},
                   {"late_wait",
                    [] {
                      with_buffers([](int* x, int* y, int*) {
                        fill<<<1, 64>>>(x, false);
                        launch_dependent<const int*, const int*, int*>(copy_scaled, x, x, y);
                      });
                    }},
                   {"overwritten",
                    [] {
                      with_buffers([](int* x, int* y, int*) {
                        copy<<<1, 64>>>(x, y, false);
                        launch_dependent<int*, bool>(fill, x, false);
                      });
                    }},
                   // The second kernel does not wait for the first, so it may end before it.
                   {"behind_another", [] {
                      with_buffers([](int* x, int* y, int* z) {
                        fill<<<1, 64>>>(x, false);
                        launch_dependent<int*, bool>(fill, y, false);
                        launch_dependent<const int*, int*, bool>(copy, x, z, true);
                      });
                    }}});
}
