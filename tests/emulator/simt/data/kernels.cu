// Kernels of nvcc_kernels_test.cpp and bench/emulator_bench.cpp. The PTX beside was made by
//   nvcc -ptx -arch=compute_80 -lineinfo kernels.cu
#include <cooperative_groups.h>

extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// C = A B for square matrices whose side is a multiple of 16.
extern "C" __global__ void tiled_gemm(int n, const float* a, const float* b, float* c) {
  __shared__ float tile_a[16][16], tile_b[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// out[block] = sum of the block's 256 elements.
extern "C" __global__ void block_sum(const int* in, int* out) {
  __shared__ int warps[8];
  int sum = in[blockIdx.x * 256 + threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 8) {
    sum = warps[threadIdx.x];
    for (int offset = 4; offset > 0; offset /= 2) sum += __shfl_down_sync(0xff, sum, offset);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}

// Each step, every element becomes the sum of its neighbours in the array before.
extern "C" __global__ void grid_steps(int steps, int* a, int* b) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int step = 0; step < steps; ++step) {
    b[i] = a[(i + 1) % n] + a[(i + n - 1) % n];
    grid.sync();
    int* other = a;
    a = b;
    b = other;
  }
}

// Lanes leave the loop after different numbers of trips, and take eight ways through the switch.
extern "C" __global__ void collatz(int* out) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  int n = i + 1, steps = 0;
  while (n != 1) {
    if (steps > 100) break;
    n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    ++steps;
  }
  switch (i % 8) {
    case 0:
      steps += 1;
      break;
    case 1:
      steps *= 3;
      break;
    case 2:
      steps -= 7;
      break;
    case 3:
      steps ^= 5;
      break;
    case 4:
      steps /= 3;
      break;
    case 5:
      steps <<= 2;
      break;
    case 6:
      steps = -steps;
      break;
    default:
      steps |= 64;
      break;
  }
  out[i] = steps;
}
