/// Runs one kernel of chapter 10 and compares its result with a sum in double, for
/// halfgrad-emulate:
///
///     ladder naive|tiled|padded|tensor_core

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#include "kernels.cuh"

namespace {

constexpr int kSize = 64;  // m, n and k

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "ladder: %s: %s\n", call, cudaGetErrorString(error));
  std::exit(1);
}

template <class T>
T* on_device(const std::vector<T>& values) {
  T* device = nullptr;
  check(cudaMalloc(&device, values.size() * sizeof(T)), "cudaMalloc");
  check(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
        "cudaMemcpy");
  return device;
}

void launch(const char* name, const Product& p) {
  const dim3 grid(kSize / kTile, kSize / kTile);
  if (std::strcmp(name, "naive") == 0) {
    naive<<<grid, kThreads>>>(p);
  } else if (std::strcmp(name, "tiled") == 0) {
    tiled<32><<<grid, kThreads>>>(p);
  } else if (std::strcmp(name, "padded") == 0) {
    tiled<34><<<grid, kThreads>>>(p);
  } else {
    tensor_core<<<grid, kThreads>>>(p);
  }
  check(cudaGetLastError(), "launch");
}

}  // namespace

int main(int argc, char** argv) {
  const char* const name = argc == 2 ? argv[1] : "";
  bool known = false;
  for (const char* kernel : {"naive", "tiled", "padded", "tensor_core"}) {
    known = known || std::strcmp(name, kernel) == 0;
  }
  if (!known) {
    std::printf("ladder naive|tiled|padded|tensor_core: runs a kernel of chapter 10\n");
    return std::strcmp(name, "--help") == 0 ? 0 : 2;
  }
  // Small integers: every sum is exact, in whatever order it is computed.
  std::vector<__half> x(kSize * kSize), w(kSize * kSize);
  std::vector<float> y(kSize * kSize, -1);
  for (int i = 0; i < kSize * kSize; ++i) {
    x[i] = __float2half(static_cast<float>((i * 7 + i / kSize) % 9 - 4));
    w[i] = __float2half(static_cast<float>((i * 5 + i / kSize) % 7 - 3));
  }
  const Product product{on_device(x), on_device(w), on_device(y), kSize, kSize};
  launch(name, product);
  check(cudaMemcpy(y.data(), product.y, y.size() * sizeof(float), cudaMemcpyDeviceToHost),
        "cudaMemcpy");
  check(cudaFree(const_cast<__half*>(product.x)), "cudaFree");
  check(cudaFree(const_cast<__half*>(product.w)), "cudaFree");
  check(cudaFree(product.y), "cudaFree");
  int wrong = 0;
  for (int row = 0; row < kSize; ++row) {
    for (int column = 0; column < kSize; ++column) {
      double sum = 0;
      for (int k = 0; k < kSize; ++k) {
        sum += static_cast<double>(__half2float(x[row * kSize + k])) *
               static_cast<double>(__half2float(w[column * kSize + k]));
      }
      wrong += static_cast<double>(y[row * kSize + column]) == sum ? 0 : 1;
    }
  }
  std::printf("%d of %d elements are wrong\n", wrong, kSize * kSize);
  return wrong == 0 ? 0 : 1;
}
