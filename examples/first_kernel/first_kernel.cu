/// A first CUDA kernel with three mistakes, to find with halfgrad-emulate on a machine without a
/// GPU.
///
///     halfgrad-emulate --report report.html build/cuda/bin/first_kernel
///     halfgrad-emulate build/cuda/bin/first_kernel --fixed
///
/// docs/emulator.md goes through what it finds.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

namespace {

constexpr int kThreads = 128;  // a block's, a power of two

/// Subtracts from each row's sum the largest sum in its block of 128 rows. x: [rows, columns].
__global__ void row_sums(const float* x, float* sums, int rows, int columns) {
  __shared__ float largest[kThreads];
  const int row = blockIdx.x * kThreads + threadIdx.x;
  float sum = 0;
  for (int column = 0; column < columns; ++column) {
    sum += x[row * columns + column];
  }
  largest[threadIdx.x] = sum;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      largest[threadIdx.x] = fmaxf(largest[threadIdx.x], largest[threadIdx.x + half]);
    }
  }
  sums[row] = sum - largest[0];
}

/// The same without the three mistakes. A warp sums a row, so its lanes read neighbouring elements.
__global__ void row_sums_fixed(const float* x, float* sums, int rows, int columns) {
  __shared__ float largest[kThreads], sum_of[kThreads];
  const int lane = threadIdx.x % 32, first_row = blockIdx.x * kThreads;
  for (int i = threadIdx.x / 32; i < kThreads; i += kThreads / 32) {
    float sum = 0;
    for (int column = lane; column < columns && first_row + i < rows; column += 32) {
      sum += x[(first_row + i) * columns + column];
    }
    for (int other = 16; other > 0; other /= 2) sum += __shfl_xor_sync(0xffffffff, sum, other);
    if (lane == 0) sum_of[i] = largest[i] = first_row + i < rows ? sum : -INFINITY;
  }
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      largest[threadIdx.x] = fmaxf(largest[threadIdx.x], largest[threadIdx.x + half]);
    }
  }
  __syncthreads();
  const int row = first_row + threadIdx.x;
  if (row < rows) sums[row] = sum_of[threadIdx.x] - largest[0];
}

/// Ends the program with the error's text and the call that returned it.
void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "first_kernel: %s: %s\n", call, cudaGetErrorString(error));
  std::exit(1);
}

/// Returns the largest error of `sums` against the same computation on the CPU.
double largest_error(const std::vector<float>& x, const std::vector<float>& sums, int columns) {
  const int rows = static_cast<int>(sums.size());
  std::vector<double> expected(sums.size());
  for (int i = 0; i < rows * columns; ++i) expected[i / columns] += x[i];
  double error = 0;
  for (int first = 0; first < rows; first += kThreads) {
    const int end = std::min(first + kThreads, rows);
    double largest = -INFINITY;
    for (int row = first; row < end; ++row) largest = std::max(largest, expected[row]);
    for (int row = first; row < end; ++row) {
      const double difference = std::fabs(sums[row] - (expected[row] - largest));
      error = std::isnan(difference) ? INFINITY : std::max(error, difference);
    }
  }
  return error;
}

}  // namespace

int main(int argc, char** argv) {
  bool fixed = false;
  int rows = 200;
  const int columns = 48;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--fixed") == 0) {
      fixed = true;
    } else if (std::strcmp(argv[i], "--rows") == 0 && i + 1 < argc && std::atoi(argv[i + 1]) > 0) {
      rows = std::atoi(argv[++i]);
    } else {
      std::printf(
          "first_kernel [--rows N] [--fixed]: sums the rows of a matrix with 48 columns on a GPU,\n"
          "or under halfgrad-emulate, by a kernel with three mistakes; --fixed: by one without.\n"
          "--rows: 200 by default; for a multiple of 128 one mistake has no effect.\n");
      return std::strcmp(argv[i], "--help") == 0 ? 0 : 2;
    }
  }
  std::vector<float> x(rows * columns), sums(rows);
  for (int i = 0; i < rows * columns; ++i) x[i] = static_cast<float>(i % 7 - i / columns % 5);

  float *device_x = nullptr, *device_sums = nullptr;
  check(cudaMalloc(&device_x, x.size() * sizeof(float)), "cudaMalloc");
  check(cudaMalloc(&device_sums, sums.size() * sizeof(float)), "cudaMalloc");
  check(cudaMemcpy(device_x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice),
        "cudaMemcpy");
  const int blocks = (rows + kThreads - 1) / kThreads;
  if (fixed) {
    row_sums_fixed<<<blocks, kThreads>>>(device_x, device_sums, rows, columns);
  } else {
    row_sums<<<blocks, kThreads>>>(device_x, device_sums, rows, columns);
  }
  check(cudaGetLastError(), "launch");
  check(cudaMemcpy(sums.data(), device_sums, sums.size() * sizeof(float), cudaMemcpyDeviceToHost),
        "cudaMemcpy");
  check(cudaFree(device_x), "cudaFree");
  check(cudaFree(device_sums), "cudaFree");

  const double error = largest_error(x, sums, columns);
  std::printf("largest error: %g\n", error);
  return error < 1e-3 ? 0 : 1;
}
