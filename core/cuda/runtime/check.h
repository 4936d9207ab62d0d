#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

#include <halfgrad/core/fail.h>
#include <halfgrad/core/shape.h>

/// The check of CUDA calls, for files that nvcc compiles.
namespace halfgrad::detail {

/// Throws std::runtime_error if `call` has failed; it names op, call, this thread's device and, if
/// given, the op's shape. A failure inside a kernel is reported by the next call.
inline void check(cudaError_t error, const char* op, const char* call,
                  const Shape* sizes = nullptr) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // clears the error, which the next launch would report, too
  int device = -1;
  cudaGetDevice(&device);
  const std::string of = sizes != nullptr ? " for " + to_string(*sizes) : "";
  fail<std::runtime_error>(op, "expected {} to succeed{} on cuda:{}, got {} ({})", call, of, device,
                           cudaGetErrorName(error), cudaGetErrorString(error));
}

}  // namespace halfgrad::detail
