#pragma once

#include <cstdint>

#include <halfgrad/core/cuda/engines/async_copy.h>
#include <halfgrad/core/cuda/kernels/gemm_small_plan.h>
#include <halfgrad/core/cuda/kernels/mlp_fragments.h>

/// The inner part of gemm_small.cu: tiles of A and B in shared memory, and the sums of their
/// products in the registers of a block's four warps, each of which computes a quarter of a tile of
/// C.
namespace halfgrad::detail {

inline constexpr int kProductWarpsDown = 2, kProductWarpsAcross = 2;
inline constexpr int kProductThreads = 32 * kProductWarpsDown * kProductWarpsAcross;
inline constexpr int kProductChunk = 8;  ///< elements that a thread copies at once

/// A or B as it is stored: rows of contiguous elements, either along k (K-major) or across it.
struct ProductOperand {
  const void* data;
  std::int64_t rows, length, stride;
  bool k_major;
  int copy_bytes;  ///< 16, 4 or 2, to which every row is aligned
};

/// The sums of one thread: of its warp's fragments, and of A's rows.
template <int kTile>
struct ProductSums {
  static constexpr int kDown = kTile / kProductWarpsDown / kBlock;
  static constexpr int kAcross = kTile / kProductWarpsAcross / kBlock;
  static constexpr int kProducts = kDown * kAcross * 2;
  static constexpr int kVectors = kProducts + kDown;

  float vector[kVectors][4] = {};

  /// Rows 16 i to 16 i + 15, columns 16 j + 8 half to 16 j + 8 half + 7.
  __device__ float (&product(int i, int j, int half))[4] {
    return vector[(i * kAcross + j) * 2 + half];
  }
  /// The sums of rows 16 i to 16 i + 15 of A, in 8 equal columns.
  __device__ float (&rows(int i))[4] { return vector[kProducts + i]; }
};

/// A warp's quarter of the tile, and its lane's place in a fragment.
template <int kTile>
struct WarpPlace {
  int row, col;  ///< the first element of the quarter
  int lane;

  __device__ WarpPlace() {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    row = warp / kProductWarpsAcross * (kTile / kProductWarpsDown);
    col = warp % kProductWarpsAcross * (kTile / kProductWarpsAcross);
    lane = static_cast<int>(threadIdx.x) % 32;
  }
};

/// A tile of one operand in shared memory: rows of `kCols` elements and padding.
template <int kTile, bool kKMajor>
struct OperandTile {
  static constexpr int kDepth = SmallProductPlan::depth(kTile);
  static constexpr int kRows = kKMajor ? kTile : kDepth;
  static constexpr int kCols = kKMajor ? kDepth : kTile;
  static constexpr int kStride = kCols + kPad;
  static constexpr int kElements = kRows * kStride;

  /// The block of 16 x 16 whose first row (or column) of the operand is `first`.
  template <class T>
  static __device__ const T* block(const T* tile, int first, int k) {
    return tile + (kKMajor ? first * kStride + k : k * kStride + first);
  }
};

__device__ inline int clamped(std::int64_t n, int most) {
  return n < 0 ? 0 : n < most ? static_cast<int>(n) : most;
}

/// Starts to copy the first `count` of 8 elements. The others become 0.
template <class T>
__device__ void copy_chunk(T* to, const T* from, int count, int copy_bytes) {
  constexpr int kBytes = static_cast<int>(sizeof(T));
  if (copy_bytes == 16) return copy_async<16>(to, from, count * kBytes);
  if (copy_bytes == 4) {
#pragma unroll
    for (int i = 0; i < kProductChunk; i += 2) {
      const int pair = clamped(count - i, 2);
      copy_async<4>(to + i, pair > 0 ? from + i : from, pair * kBytes);
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < kProductChunk; ++i) to[i] = i < count ? from[i] : T(0);
}

/// Starts to fill a tile, whose first element in the operand is (first, k), and with 0 beyond the
/// operand's edges.
template <class Tile, class T>
__device__ void load_tile(T* tile, const ProductOperand& from, std::int64_t first, std::int64_t k) {
  constexpr int kPerRow = Tile::kCols / kProductChunk;
  const std::int64_t first_row = from.k_major ? first : k, first_col = from.k_major ? k : first;
#pragma unroll
  for (int round = 0; round < Tile::kRows * kPerRow / kProductThreads; ++round) {
    const int chunk = round * kProductThreads + static_cast<int>(threadIdx.x);
    const int row = chunk / kPerRow, col = chunk % kPerRow * kProductChunk;
    const bool inside = first_row + row < from.rows;
    const int count = inside ? clamped(from.length - first_col - col, kProductChunk) : 0;
    const T* source = static_cast<const T*>(from.data);
    if (count > 0) source += (first_row + row) * from.stride + first_col + col;
    copy_chunk(tile + row * Tile::kStride + col, source, count, from.copy_bytes);
  }
}

/// sums += the warp's rows of A times its columns of B, for one step.
template <class T, int kTile, bool kAKMajor, bool kBKMajor>
__device__ void multiply_step(ProductSums<kTile>& sums, const T* a_tile, const T* b_tile,
                              const WarpPlace<kTile>& at, bool with_row_sums) {
  using ATile = OperandTile<kTile, kAKMajor>;
  using BTile = OperandTile<kTile, kBKMajor>;
#pragma unroll
  for (int k = 0; k < ATile::kDepth; k += kBlock) {
    Fragment a[ProductSums<kTile>::kDown], b[ProductSums<kTile>::kAcross];
#pragma unroll
    for (int i = 0; i < sums.kDown; ++i) {
      const T* const block = ATile::block(a_tile, at.row + i * kBlock, k);
      a[i] = kAKMajor ? load_a(block, ATile::kStride) : load_a_transposed(block, ATile::kStride);
    }
#pragma unroll
    for (int j = 0; j < sums.kAcross; ++j) {
      const T* const block = BTile::block(b_tile, at.col + j * kBlock, k);
      b[j] = kBKMajor ? load_b_transposed(block, BTile::kStride) : load_b(block, BTile::kStride);
    }
#pragma unroll
    for (int i = 0; i < sums.kDown; ++i) {
#pragma unroll
      for (int j = 0; j < sums.kAcross; ++j) {
        multiply_add<T>(sums.product(i, j, 0), a[i], b[j].part[0], b[j].part[1]);
        multiply_add<T>(sums.product(i, j, 1), a[i], b[j].part[2], b[j].part[3]);
      }
      if (with_row_sums) multiply_add<T>(sums.rows(i), a[i], PairOf<T>::kOnes, PairOf<T>::kOnes);
    }
  }
}

}  // namespace halfgrad::detail
