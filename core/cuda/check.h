#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

/// Seen by nvcc's files alone.
namespace halfgrad::detail {

/// Throws std::runtime_error naming all three and this thread's device when `call` has failed. A
/// kernel's own failure is reported by whatever call comes next.
inline void check(cudaError_t error, const char* op, const char* call) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // or the next launch would be blamed for it
  int device = -1;
  cudaGetDevice(&device);
  throw std::runtime_error(std::string(op) + ": expected " + call +
                           " to succeed on cuda:" + std::to_string(device) + ", got " +
                           cudaGetErrorName(error) + " (" + cudaGetErrorString(error) + ")");
}

}  // namespace halfgrad::detail
