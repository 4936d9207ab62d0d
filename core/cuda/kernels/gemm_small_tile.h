#pragma once

#include <cstdint>
#include <type_traits>

#include <halfgrad/core/cuda/engines/async_copy.h>
#include <halfgrad/core/cuda/kernels/gemm_small_operand.h>
#include <halfgrad/core/cuda/kernels/gemm_small_plan.h>
#include <halfgrad/core/cuda/kernels/mlp_fragments.h>

/// The inner part of gemm_small.cu: tiles of A and B in shared memory, and the sums of their
/// products in the registers of a block's eight warps, each of which computes 32 x 32 sums.
namespace halfgrad::detail {

inline constexpr int kProductWarps = 8, kProductThreads = 32 * kProductWarps;

/// The 32 x 32 sums of a warp, and its lane's place in a fragment. The warps that compute the same
/// square of the tile take different terms of each step: group 0 the first ones. So a tile of
/// 32 x 32 keeps eight warps busy, and a warp waits less often for the result of its last mma.sync.
template <int kTile>
struct WarpPlace {
  static constexpr int kWidth = 32;
  static constexpr int kAcross = kTile / kWidth;  ///< squares in a row of the tile
  static constexpr int kGroups = kProductWarps / (kAcross * kAcross);
  static constexpr int kDepth = SmallProductPlan::depth(kTile) / kGroups;  ///< terms of each step

  int row, col;  ///< the first element of the square
  int group, lane;

  __device__ WarpPlace() {
    const int warp = static_cast<int>(threadIdx.x) / 32, square = warp % (kAcross * kAcross);
    row = square / kAcross * kWidth;
    col = square % kAcross * kWidth;
    group = warp / (kAcross * kAcross);
    lane = static_cast<int>(threadIdx.x) % 32;
  }
};

/// The sums of one thread: of its warp's fragments, and of A's rows.
struct WarpSums {
  static constexpr int kBlocks = 32 / kBlock;

  float products[kBlocks][kBlocks * 2][4] = {};  ///< rows 16 i + ..., columns 8 j + ...
  float rows[kBlocks][4] = {};  ///< row sums of A: rows 16 i + ..., in 8 equal columns
};

/// A tile of one operand in shared memory: rows of `kCols` elements and padding. The elements of a
/// float32 operand stay float32 there.
template <class Element, int kTile, bool kKMajor>
struct OperandTile {
  static constexpr int kDepth = SmallProductPlan::depth(kTile);
  static constexpr int kRows = kKMajor ? kTile : kDepth;
  static constexpr int kCols = kKMajor ? kDepth : kTile;
  static constexpr bool kWide = std::is_same_v<Element, float>;
  // load_wide_b() reads rows 2t of four lanes at once: rows of 4 more avoid bank conflicts there.
  static constexpr int kStride = kCols + (kWide && !kKMajor ? 4 : kPad);
  static constexpr int kBytes = kRows * kStride * static_cast<int>(sizeof(Element));

  /// The block of 16 x 16 whose first row (or column) of the operand is `first`.
  static __device__ const Element* block(const Element* tile, int first, int k) {
    return tile + (kKMajor ? first * kStride + k : k * kStride + first);
  }

  /// A block as the operand A or B of mma.sync, rounded to T.
  template <class T>
  static __device__ Fragment a(const Element* block) {
    if constexpr (kWide) {
      static_assert(kKMajor);
      return load_wide_a<T>(block, kStride);
    } else {
      return kKMajor ? load_a(block, kStride) : load_a_transposed(block, kStride);
    }
  }
  template <class T>
  static __device__ Fragment b(const Element* block) {
    if constexpr (kWide) {
      static_assert(!kKMajor);
      return load_wide_b<T>(block, kStride);
    } else {
      return kKMajor ? load_b_transposed(block, kStride) : load_b(block, kStride);
    }
  }
};

/// Returns n, but at least 0 and at most `most`.
__device__ inline int clamped(std::int64_t n, int most) {
  return n < 0 ? 0 : n < most ? static_cast<int>(n) : most;
}

/// Copies the tiles of A or B to shared memory, one a step. A thread copies the same chunks of
/// every tile, so it finds their places once, and counts the steps in which they are aligned and
/// inside the operand. Such a step only copies and moves a pointer: with tests and index arithmetic
/// in the loop a step took several times as long as its copies.
template <class Element, int kTile, bool kKMajor>
class TileCopy {
  using Tile = OperandTile<Element, kTile, kKMajor>;
  static constexpr int kBytes = static_cast<int>(sizeof(Element));
  static constexpr int kChunk = 16 / kBytes;  ///< elements that a thread copies at once
  static constexpr int kPerRow = Tile::kCols / kChunk;
  static constexpr int kRowsAtOnce = kProductThreads / kPerRow;
  static constexpr int kChunks = Tile::kRows / kRowsAtOnce;  ///< chunks of a thread in each tile

 public:
  /// The first tile begins at row (or column) `first` of the operand and at term k of the sum.
  __device__ TileCopy(const ProductOperand& from, std::int64_t first, std::int64_t k)
      : to_(row() * Tile::kStride + col()),
        chunk_stride_(kRowsAtOnce * from.stride),
        step_stride_(kKMajor ? Tile::kDepth : Tile::kDepth * from.stride),
        copy_bytes_(from.copy_bytes) {
    constexpr int kMost = 1 << 30;  // terms: more than a part has
    const std::int64_t first_row = (kKMajor ? first : k) + row();
    const std::int64_t first_col = (kKMajor ? k : first) + col();
    from_ = static_cast<const Element*>(from.data) + first_row * from.stride + first_col;
    rows_left_ = clamped(from.rows - first_row, kMost);
    cols_left_ = clamped(from.length - first_col, kMost);
    const int rows_beside = rows_left_ - (kChunks - 1) * kRowsAtOnce - 1;
    const int cols_beside = cols_left_ - kChunk;  // the last chunk; < 0 if it is outside
    if (copy_bytes_ == 16 && rows_beside >= 0 && cols_beside >= 0) {
      whole_steps_ = (kKMajor ? cols_beside : rows_beside) / Tile::kDepth + 1;
    }
  }

  /// Starts to fill a tile, with 0 beyond the operand's edges, and moves on to the next.
  __device__ void begin_tile(Element* tile) {
    if (whole_steps_ > 0) {
#pragma unroll
      for (int chunk = 0; chunk < kChunks; ++chunk) {
        copy_async<16>(to(tile, chunk), from(chunk), 16);
      }
    } else {
#pragma unroll 1
      for (int chunk = 0; chunk < kChunks; ++chunk) {
        begin_chunk(to(tile, chunk), from(chunk), count(chunk));
      }
    }
    from_ += step_stride_;
    (kKMajor ? cols_left_ : rows_left_) -= Tile::kDepth;
    --whole_steps_;
  }

 private:
  /// The place of the thread's first chunk in a tile. The others are below.
  static __device__ int row() { return static_cast<int>(threadIdx.x) / kPerRow; }
  static __device__ int col() { return static_cast<int>(threadIdx.x) % kPerRow * kChunk; }

  __device__ Element* to(Element* tile, int chunk) const {
    return tile + to_ + chunk * kRowsAtOnce * Tile::kStride;
  }
  __device__ const Element* from(int chunk) const { return from_ + chunk * chunk_stride_; }
  /// Elements of the chunk that are inside the operand.
  __device__ int count(int chunk) const {
    return chunk * kRowsAtOnce < rows_left_ ? clamped(cols_left_, kChunk) : 0;
  }

  /// Starts to copy the first `count` elements of a chunk. The others become 0.
  __device__ void begin_chunk(Element* to, const Element* from, int count) const {
    constexpr int kOf4Bytes = 4 / kBytes;
    if (copy_bytes_ == 16) return copy_async<16>(to, from, count * kBytes);
    if (copy_bytes_ == 4) {
#pragma unroll
      for (int i = 0; i < kChunk; i += kOf4Bytes) {
        copy_async<4>(to + i, from + i, clamped(count - i, kOf4Bytes) * kBytes);
      }
      return;
    }
#pragma unroll
    for (int i = 0; i < kChunk; ++i) to[i] = i < count ? from[i] : Element(0);
  }

  const Element* from_;  ///< not read beyond the edges
  int to_;
  int rows_left_, cols_left_;  ///< from the first chunk to the operand's edges
  int whole_steps_ = 0;        ///< steps left in which all chunks are aligned and inside
  std::int64_t chunk_stride_, step_stride_;
  int copy_bytes_;
};

/// sums += the warp's rows of A times its columns of B, for its terms of one step.
template <class T, class ATile, class BTile, class A, class B, int kTile>
__device__ void multiply_step(WarpSums& sums, const A* a_tile, const B* b_tile,
                              const WarpPlace<kTile>& at, bool with_row_sums) {
#pragma unroll
  for (int term = 0; term < at.kDepth; term += kBlock) {
    const int k = at.group * at.kDepth + term;
    Fragment a[sums.kBlocks], b[sums.kBlocks];
#pragma unroll
    for (int i = 0; i < sums.kBlocks; ++i) {
      a[i] = ATile::template a<T>(ATile::block(a_tile, at.row + i * kBlock, k));
      b[i] = BTile::template b<T>(BTile::block(b_tile, at.col + i * kBlock, k));
    }
#pragma unroll
    for (int i = 0; i < sums.kBlocks; ++i) {
#pragma unroll
      for (int j = 0; j < sums.kBlocks; ++j) {
        multiply_add<T>(sums.products[i][j * 2], a[i], b[j].part[0], b[j].part[1]);
        multiply_add<T>(sums.products[i][j * 2 + 1], a[i], b[j].part[2], b[j].part[3]);
      }
      if (with_row_sums) multiply_add<T>(sums.rows[i], a[i], PairOf<T>::kOnes, PairOf<T>::kOnes);
    }
  }
}

}  // namespace halfgrad::detail
