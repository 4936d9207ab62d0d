#pragma once

#include <cstddef>
#include <cstdint>

#include <halfgrad/core/cuda/engines/tickets.h>
#include <halfgrad/core/cuda/kernels/gemm_small_tile.h>

/// The sums of a tile of C in gemm_small.cu: those of its warps, added through shared memory, and
/// of the parts of k, added by the last block through global memory. Both in a fixed order.
namespace halfgrad::detail {

/// The sums of a tile that a thread adds and stores: four neighbours in each of some rows, and the
/// sum of one row of A.
template <int kTile>
struct TileSums {
  static constexpr int kPerRow = kTile / 4;
  static constexpr int kRowsAtOnce = kProductThreads / kPerRow;
  static constexpr int kVectors = kTile / kRowsAtOnce;
  static constexpr int kSlots = kVectors + 1;  ///< float4 in global memory, one for the row of A

  float4 vector[kVectors] = {};
  float row_of_a = 0;

  static __device__ int row(int vector) {
    return vector * kRowsAtOnce + static_cast<int>(threadIdx.x) / kPerRow;
  }
  static __device__ int col() { return static_cast<int>(threadIdx.x) % kPerRow * 4; }
  static __device__ bool has_row_of_a() { return threadIdx.x < kTile; }
};

__device__ inline void add(float4& sum, const float4& more) {
  sum.x += more.x;
  sum.y += more.y;
  sum.z += more.z;
  sum.w += more.w;
}

/// The sums of all warps in shared memory: 32 x 32 each, with the sum of A's row after each row.
template <int kTile>
class SharedSums {
  using Place = WarpPlace<kTile>;
  static constexpr int kStride = Place::kWidth + kPad;  ///< no bank conflicts
  static constexpr int kOfWarp = Place::kWidth * kStride;

 public:
  static constexpr std::size_t kBytes = sizeof(float) * kProductWarps * kOfWarp;

  __device__ explicit SharedSums(void* memory) : memory_(static_cast<float*>(memory)) {}

  __device__ void store(const WarpSums& sums, const Place& at) const {
    float* const square = warp(at.group, at.row, at.col);
#pragma unroll
    for (int i = 0; i < sums.kBlocks; ++i) {
#pragma unroll
      for (int down = 0; down < 2; ++down) {
        float* const row = square + (i * kBlock + down * 8 + at.lane / 4) * kStride;
#pragma unroll
        for (int j = 0; j < sums.kBlocks * 2; ++j) {
          const float* const pair = &sums.products[i][j][down * 2];
          float* const to = row + j * 8 + at.lane % 4 * 2;
          *reinterpret_cast<float2*>(to) = make_float2(pair[0], pair[1]);
        }
        if (at.lane % 4 == 0) row[Place::kWidth] = sums.rows[i][down * 2];
      }
    }
  }

  /// The thread's sums, over all groups of warps in their order.
  __device__ TileSums<kTile> added() const {
    TileSums<kTile> sums;
    const int col = sums.col();
#pragma unroll
    for (int group = 0; group < Place::kGroups; ++group) {
#pragma unroll
      for (int v = 0; v < sums.kVectors; ++v) {
        add(sums.vector[v], *reinterpret_cast<const float4*>(at(group, sums.row(v), col)));
      }
      if (sums.has_row_of_a()) {
        const int row = static_cast<int>(threadIdx.x);
        sums.row_of_a += at(group, row, 0)[Place::kWidth];
      }
    }
    return sums;
  }

 private:
  /// The sums of the warp of a group that has this row and column of the tile.
  __device__ float* warp(int group, int row, int col) const {
    const int square = row / Place::kWidth * Place::kAcross + col / Place::kWidth;
    return memory_ + (group * Place::kAcross * Place::kAcross + square) * kOfWarp;
  }
  __device__ const float* at(int group, int row, int col) const {
    return warp(group, row, col) + row % Place::kWidth * kStride + col % Place::kWidth;
  }

  float* memory_;
};

/// Global memory for the sums of all parts, float4 [parts, tiles, TileSums::kSlots,
/// kProductThreads], and a ticket for each tile.
struct PartialSums {
  float4* data = nullptr;
  unsigned* tickets = nullptr;
};

/// Writes this block's sums. Returns whether it is the last block of its tile; then `sums` become
/// those of all parts. blockIdx.z is the part.
template <int kTile>
__device__ bool add_parts(const PartialSums& parts, TileSums<kTile>& sums, bool with_row_sums) {
  const unsigned tile = blockIdx.y * gridDim.x + blockIdx.x, tiles = gridDim.x * gridDim.y;
  float4* const data = parts.data + tile * sums.kSlots * kProductThreads + threadIdx.x;
  const unsigned stride = tiles * sums.kSlots * kProductThreads;  // 32 bits: about 128 blocks
  const auto place = [&](unsigned part, int slot) {
    return data + part * stride + slot * kProductThreads;
  };
  const auto place_of_row = [&](unsigned part) {
    return reinterpret_cast<float*>(place(part, sums.kVectors));
  };
#pragma unroll
  for (int v = 0; v < sums.kVectors; ++v) *place(blockIdx.z, v) = sums.vector[v];
  with_row_sums = with_row_sums && sums.has_row_of_a();
  if (with_row_sums) *place_of_row(blockIdx.z) = sums.row_of_a;
  if (!is_last_block(parts.tickets + tile, gridDim.z)) return false;

  sums = {};
  constexpr int kAtOnce = 16 / sums.kVectors;  // 16 loads of a thread are on their way
  for (unsigned first = 0; first < gridDim.z; first += kAtOnce) {
    TileSums<kTile> loaded[kAtOnce];  // 0 beyond the last part
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (first + i >= gridDim.z) continue;
#pragma unroll
      for (int v = 0; v < sums.kVectors; ++v) loaded[i].vector[v] = __ldcg(place(first + i, v));
      if (with_row_sums) loaded[i].row_of_a = __ldcg(place_of_row(first + i));
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
#pragma unroll
      for (int v = 0; v < sums.kVectors; ++v) add(sums.vector[v], loaded[i].vector[v]);
      sums.row_of_a += loaded[i].row_of_a;
    }
  }
  return true;
}

}  // namespace halfgrad::detail
