#include <halfgrad/core/cuda/device_count.h>

#include <cuda_runtime_api.h>

namespace halfgrad::detail {

int cuda_device_count() noexcept {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

}  // namespace halfgrad::detail
