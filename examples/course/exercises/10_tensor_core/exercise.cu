// Exercise 10: a product on tensor cores.
#include "exercise.h"

#include <mma.h>

namespace {

// solution begin
// blank: // Right, and slow: one thread for each element of y, straight from global memory.
// blank: __global__ void product(const __half* x, const __half* w, float* y, int n, int k) {
// blank:   const int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
// blank:   float sum = 0;
// blank:   for (int i = 0; i < k; ++i) {
// blank:     sum += __half2float(x[row * k + i]) * __half2float(w[column * k + i]);
// blank:   }
// blank:   y[row * n + column] = sum;
// blank: }
namespace wmma = nvcuda::wmma;

constexpr int kTile = 32;      // rows and columns of y for a block, and the step along k
constexpr int kFragment = 16;  // rows and columns of a fragment
constexpr int kStride = 48;    // a tile's row: 32 elements and 16 of padding
constexpr int kThreads = 128;  // 4 warps, one for each quarter of the tile

__device__ void load_tile(__half* tile, const __half* from, int row_length) {
  for (int i = threadIdx.x / kTile; i < kTile; i += kThreads / kTile) {
    tile[i * kStride + threadIdx.x % kTile] = from[i * row_length + threadIdx.x % kTile];
  }
}

__global__ void product(const __half* x, const __half* w, float* y, int n, int k) {
  __shared__ __align__(32) __half x_tile[kTile * kStride], w_tile[kTile * kStride];
  const int warp = threadIdx.x / 32;
  const int row = warp / 2 * kFragment, column = warp % 2 * kFragment;
  wmma::fragment<wmma::accumulator, kFragment, kFragment, kFragment, float> sums;
  wmma::fill_fragment(sums, 0.0f);
  for (int step = 0; step < k; step += kTile) {
    load_tile(x_tile, x + blockIdx.y * kTile * k + step, k);
    load_tile(w_tile, w + blockIdx.x * kTile * k + step, k);
    __syncthreads();
    for (int i = 0; i < kTile; i += kFragment) {
      // The rows of w are the columns of w^T: col_major.
      wmma::fragment<wmma::matrix_a, kFragment, kFragment, kFragment, __half, wmma::row_major> a;
      wmma::fragment<wmma::matrix_b, kFragment, kFragment, kFragment, __half, wmma::col_major> b;
      wmma::load_matrix_sync(a, x_tile + row * kStride + i, kStride);
      wmma::load_matrix_sync(b, w_tile + column * kStride + i, kStride);
      wmma::mma_sync(sums, a, b, sums);
    }
    __syncthreads();  // before the tiles are filled again
  }
  float* const corner = y + (blockIdx.y * kTile + row) * n + blockIdx.x * kTile + column;
  wmma::store_matrix_sync(corner, sums, n, wmma::mem_row_major);
}
// solution end

}  // namespace

void multiply(const __half* x, const __half* w, float* y, int m, int n, int k) {
  // solution begin
  // blank: product<<<dim3(n / 32, m / 8), dim3(32, 8)>>>(x, w, y, n, k);
  product<<<dim3(n / kTile, m / kTile), kThreads>>>(x, w, y, n, k);
  // solution end
}
