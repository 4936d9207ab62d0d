#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

/// Shared code of the programs of the kernel labs: memory on the device, and results.
namespace program {

/// Ends the program with the error's text and the call that returned it.
inline void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", call, cudaGetErrorString(error));
  std::exit(3);
}

/// Returns a copy of `values` in device memory.
inline float* on_device(const std::vector<float>& values) {
  float* device = nullptr;
  check(cudaMalloc(&device, values.size() * sizeof(float)), "cudaMalloc");
  check(cudaMemcpy(device, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice),
        "cudaMemcpy");
  return device;
}

/// Waits for the kernel, and returns n values of device memory, which it frees.
inline std::vector<float> from_device(float* device, std::size_t n) {
  std::vector<float> values(n);
  check(cudaGetLastError(), "launch");
  check(cudaMemcpy(values.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
  check(cudaFree(device), "cudaFree");
  return values;
}

inline int usage(const char* text) {
  std::printf("%s\n", text);
  return 2;
}

/// Returns the integer in [least, most] that an argument spells. Ends the program with status 2 for
/// other text.
inline int integer(const char* name, const char* text, long least, long most) {
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (end != text && *end == '\0' && value >= least && value <= most)
    return static_cast<int>(value);
  std::fprintf(stderr, "expected %s to be an integer in [%ld, %ld], got %s\n", name, least, most,
               text);
  std::exit(2);
}

inline int right() {
  std::printf("right\n");
  return 0;
}

inline int wrong(const char* name, int index, double expected, double got) {
  std::printf("wrong: %s[%d] is %g, expected %g\n", name, index, got, expected);
  return 1;
}

}  // namespace program
