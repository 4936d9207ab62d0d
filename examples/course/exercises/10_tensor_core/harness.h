#pragma once
// The main() of the program that grade.cpp runs: computes one product by the student's multiply()
// and compares it with sums in double. Options: M N K SEED.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#include "exercise.h"

namespace {

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::printf("cuda %s: %s\n", call, cudaGetErrorString(error));
  std::exit(3);
}

template <class T>
T* on_device(const std::vector<T>& values) {
  T* device = nullptr;
  check(cudaMalloc(&device, values.size() * sizeof(T)), "cudaMalloc");
  check(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
        "cudaMemcpy");
  return device;
}

// Small integers, whose sums are exact in whatever order they are computed.
std::vector<__half> integers(int count, unsigned seed) {
  std::vector<__half> values;
  unsigned state = seed * 2654435761u + 1;
  for (int i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    values.push_back(__float2half(static_cast<float>(static_cast<int>(state >> 24) % 9 - 4)));
  }
  return values;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const int m = std::atoi(argv[1]), n = std::atoi(argv[2]), k = std::atoi(argv[3]);
  const unsigned seed = static_cast<unsigned>(std::atoi(argv[4]));
  const std::vector<__half> x = integers(m * k, seed), w = integers(n * k, seed + 1);
  std::vector<float> y(m * n, -12345.0f);
  __half *device_x = on_device(x), *device_w = on_device(w);
  float* device_y = on_device(y);
  multiply(device_x, device_w, device_y, m, n, k);
  check(cudaGetLastError(), "launch");
  check(cudaMemcpy(y.data(), device_y, y.size() * sizeof(float), cudaMemcpyDeviceToHost),
        "cudaMemcpy");
  check(cudaFree(device_x), "cudaFree");
  check(cudaFree(device_w), "cudaFree");
  check(cudaFree(device_y), "cudaFree");
  for (int i = 0; i < m * n; ++i) {
    double sum = 0;
    for (int j = 0; j < k; ++j) {
      sum += static_cast<double>(__half2float(x[i / n * k + j])) *
             static_cast<double>(__half2float(w[i % n * k + j]));
    }
    if (static_cast<double>(y[i]) == sum) continue;
    std::printf("wrong y[%d, %d] %g %g\n", i / n, i % n, sum, static_cast<double>(y[i]));
    return 1;
  }
  std::printf("right\n");
  return 0;
}
