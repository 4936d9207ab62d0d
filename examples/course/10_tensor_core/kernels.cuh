#pragma once
// Four kernels of y = x w^T, for x [m, k] and w [n, k] in fp16, with sums in fp32 and y in fp32.
// m, n and k are multiples of 32. A block of 256 threads computes a tile of 32 x 32 of y.

#include <cuda_fp16.h>
#include <mma.h>

constexpr int kTile = 32;      // rows and columns of y for a block, and steps along k
constexpr int kThreads = 256;  // 8 warps

struct Product {
  const __half *x, *w;
  float* y;
  int n, k;
};

/// 1. One thread computes 4 elements of y, straight from global memory. The lanes of a warp have
/// neighbouring columns of y, hence neighbouring rows of w, k elements apart.
__global__ void naive(Product p) {
  const int column = blockIdx.x * kTile + threadIdx.x % kTile;
  for (int i = threadIdx.x / kTile; i < kTile; i += kThreads / kTile) {
    const int row = blockIdx.y * kTile + i;
    float sum = 0;
    for (int k = 0; k < p.k; ++k) {
      sum += __half2float(p.x[row * p.k + k]) * __half2float(p.w[column * p.k + k]);
    }
    p.y[row * p.n + column] = sum;
  }
}

/// Copies 32 x 32 elements to shared memory, whose rows are `stride` elements apart. The lanes of a
/// warp copy neighbouring elements of a row.
__device__ inline void load_tile(__half* tile, int stride, const __half* from, int row_length) {
  for (int i = threadIdx.x / kTile; i < kTile; i += kThreads / kTile) {
    tile[i * stride + threadIdx.x % kTile] = from[i * row_length + threadIdx.x % kTile];
  }
}

/// 2. and 3. The block copies tiles of x and w to shared memory first. Rows of the tiles are
/// kStride elements apart: 32 without padding, 34 with.
template <int kStride>
__global__ void tiled(Product p) {
  __shared__ __half x_tile[kTile * kStride], w_tile[kTile * kStride];
  const int column = threadIdx.x % kTile, first_row = threadIdx.x / kTile;
  float sums[kTile * kTile / kThreads] = {};
  for (int k = 0; k < p.k; k += kTile) {
    load_tile(x_tile, kStride, p.x + blockIdx.y * kTile * p.k + k, p.k);
    load_tile(w_tile, kStride, p.w + blockIdx.x * kTile * p.k + k, p.k);
    __syncthreads();
    for (int i = 0; i < kTile; ++i) {
      const float w = __half2float(w_tile[column * kStride + i]);
      for (int j = 0; j < kTile * kTile / kThreads; ++j) {
        const int row = first_row + j * kThreads / kTile;
        sums[j] += __half2float(x_tile[row * kStride + i]) * w;
      }
    }
    __syncthreads();
  }
  for (int j = 0; j < kTile * kTile / kThreads; ++j) {
    const int row = blockIdx.y * kTile + first_row + j * kThreads / kTile;
    p.y[row * p.n + blockIdx.x * kTile + column] = sums[j];
  }
}

/// 4. Four of the warps multiply 16 x 16 by 16 x 16 on tensor cores. Rows of the tiles are 48
/// elements apart: padded, and a multiple of 16 bytes, which WMMA needs.
__global__ void tensor_core(Product p) {
  namespace wmma = nvcuda::wmma;
  constexpr int kStride = 48, kFragment = 16;
  __shared__ __align__(32) __half x_tile[kTile * kStride], w_tile[kTile * kStride];
  const int warp = threadIdx.x / 32;
  const int row = warp / 2 * kFragment, column = warp % 2 * kFragment;  // the warp's fragment
  wmma::fragment<wmma::accumulator, kFragment, kFragment, kFragment, float> sums;
  wmma::fill_fragment(sums, 0.0f);
  for (int k = 0; k < p.k; k += kTile) {
    load_tile(x_tile, kStride, p.x + blockIdx.y * kTile * p.k + k, p.k);
    load_tile(w_tile, kStride, p.w + blockIdx.x * kTile * p.k + k, p.k);
    __syncthreads();
    if (warp < 4) {
      for (int i = 0; i < kTile; i += kFragment) {
        // w_tile has the rows of w, which are the columns of w^T: col_major.
        wmma::fragment<wmma::matrix_a, kFragment, kFragment, kFragment, __half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, kFragment, kFragment, kFragment, __half, wmma::col_major> b;
        wmma::load_matrix_sync(a, x_tile + row * kStride + i, kStride);
        wmma::load_matrix_sync(b, w_tile + column * kStride + i, kStride);
        wmma::mma_sync(sums, a, b, sums);
      }
    }
    __syncthreads();
  }
  if (warp < 4) {
    float* const y = p.y + (blockIdx.y * kTile + row) * p.n + blockIdx.x * kTile + column;
    wmma::store_matrix_sync(y, sums, p.n, wmma::mem_row_major);
  }
}
