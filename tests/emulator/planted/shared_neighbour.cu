// Accesses beyond one __shared__ array that hit another one, so they are inside of the block's
// shared memory.
#include "../planted.h"

__device__ float warp_sum(float value) {
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  }
  return value;
}

// A warp reads a value for each of its lanes, but the block has only four warps.
__global__ void block_sum(const float* x, float* y) {
  __shared__ float of_warp[4];
  __shared__ float kept[128];
  kept[threadIdx.x] = x[threadIdx.x];
  const float sum = warp_sum(x[threadIdx.x]);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    const float total = warp_sum(of_warp[threadIdx.x]);  // expect warps: out-of-bounds
    if (threadIdx.x == 0) y[0] = total;
  }
  __syncthreads();
  y[1 + threadIdx.x] = kept[127 - threadIdx.x];
}

// The halo's left cell of the first thread lies before the tile.
__global__ void left_neighbour(const float* x, float* y) {
  __shared__ float before[64];
  __shared__ float tile[64];
  before[threadIdx.x] = 0;
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  const int left = static_cast<int>(threadIdx.x) - 1;
  y[threadIdx.x] = tile[left] + before[threadIdx.x];  // expect left: out-of-bounds
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"warps",
                    [] {
                      Buffer<float> x(128), y(129);
                      block_sum<<<1, 128>>>(x, y);
                      CHECK(cudaDeviceSynchronize());
                    }},
                   {"left", [] {
                      Buffer<float> x(64), y(64);
                      left_neighbour<<<1, 64>>>(x, y);
                      CHECK(cudaDeviceSynchronize());
                    }}});
}
