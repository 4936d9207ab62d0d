#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

#include <halfgrad/core/shape.h>

/// Seen by nvcc's files alone.
namespace halfgrad::detail {

/// Throws std::runtime_error naming op, call, this thread's device and, if given, the op's shape
/// when `call` has failed. A kernel's own failure is reported by whatever call comes next.
inline void check(cudaError_t error, const char* op, const char* call,
                  const Shape* sizes = nullptr) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // or the next launch would be blamed for it
  int device = -1;
  cudaGetDevice(&device);
  const std::string of = sizes != nullptr ? " for " + to_string(*sizes) : "";
  throw std::runtime_error(std::string(op) + ": expected " + call + " to succeed" + of +
                           " on cuda:" + std::to_string(device) + ", got " +
                           cudaGetErrorName(error) + " (" + cudaGetErrorString(error) + ")");
}

}  // namespace halfgrad::detail
