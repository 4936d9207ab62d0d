#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <halfgrad/core/cuda/engines/group.h>
#include <halfgrad/core/cuda/kernels/mlp_fragments.h>

/// Rows of a matrix on their way between global memory and a tile in shared memory.
namespace halfgrad::detail {

inline constexpr int kChunk = 8;  ///< 16-bit elements of one access, of 16 bytes

/// A tile of kWidth columns, whose rows are padded by kPad elements to avoid bank conflicts.
template <class T, int kWidth>
struct PaddedTile {
  static constexpr int kColumns = kWidth;

  T* first;

  __device__ T* at(int row, int column) const { return first + row * (kWidth + kPad) + column; }
};

/// Loads eight elements, 16 bytes of a tile; float elements are rounded.
template <class T>
__device__ uint4 load_chunk(const T* from) {
  return *reinterpret_cast<const uint4*>(from);
}
template <class T>
__device__ uint4 load_chunk(const float* from) {
  const float4 low = reinterpret_cast<const float4*>(from)[0];
  const float4 high = reinterpret_cast<const float4*>(from)[1];
  return {PairOf<T>::narrow(low.x, low.y), PairOf<T>::narrow(low.z, low.w),
          PairOf<T>::narrow(high.x, high.y), PairOf<T>::narrow(high.z, high.w)};
}

/// Copies `rows` rows of `columns` contiguous elements to a tile in shared memory, and fills the
/// tile's other rows and columns, up to tile_rows x tile_columns, with zeros. From is T, or float,
/// which is rounded to T. The threads of a warp or of a block share the work; `rank` is this one's.
/// In each tile, 8 elements of a row from a multiple of 8 on are adjacent.
template <class T, class Tile, class From>
__device__ void load_rows(const Tile& tile, int tile_rows, int tile_columns, const From* from,
                          int rows, int columns, int rank, int threads) {
  if (columns % kChunk == 0 && reinterpret_cast<std::uintptr_t>(from) % 16 == 0) {
    const auto copy = [&](const auto per_row) {
#pragma unroll 4
      for (int i = rank; i < tile_rows * per_row; i += threads) {
        const int row = i / per_row, column = i % per_row * kChunk;
        uint4 chunk = {};
        if (row < rows && column < columns) chunk = load_chunk<T>(from + row * columns + column);
        *reinterpret_cast<uint4*>(tile.at(row, column)) = chunk;
      }
    };
    if (tile_columns == Tile::kColumns) {
      copy(std::integral_constant<int, Tile::kColumns / kChunk>());  // divides by a constant
    } else {
      copy(tile_columns / kChunk);
    }
    return;
  }
#pragma unroll 1
  for (int i = rank; i < tile_rows * tile_columns; i += threads) {
    const int row = i / tile_columns, column = i % tile_columns;
    const bool inside = row < rows && column < columns;
    *tile.at(row, column) = inside ? T(from[row * columns + column]) : T(0);
  }
}

/// Prefetches `bytes` bytes of global memory into the L2 cache, by one warp.
inline __device__ void prefetch(const void* from, std::int64_t bytes, int lane) {
  constexpr int kLine = 128;
  for (std::int64_t at = lane * kLine; at < bytes; at += kWarp * kLine) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(static_cast<const std::byte*>(from) + at));
  }
}

/// Copies the first `rows` of a tile's 16 rows, and `columns` of its columns, to contiguous rows,
/// by one warp.
template <class T, class Tile>
__device__ void store_rows(T* to, const Tile& tile, int rows, int columns, int lane) {
  const bool in_chunks =
      columns % kChunk == 0 && reinterpret_cast<std::uintptr_t>(to) % sizeof(uint4) == 0;
  const auto copy_chunk = [&](int i, int row, int column) {
    reinterpret_cast<uint4*>(to)[i] =
        *reinterpret_cast<const uint4*>(tile.at(row, column * kChunk));
  };
  if (in_chunks && columns == Tile::kColumns) {
    constexpr int kPerRow = Tile::kColumns / kChunk, kRowsAtOnce = kWarp / kPerRow;
#pragma unroll
    for (int first = 0; first < kBlock; first += kRowsAtOnce) {
      const int row = first + lane / kPerRow;
      if (row < rows) copy_chunk(first * kPerRow + lane, row, lane % kPerRow);
    }
  } else if (in_chunks) {
    const int per_row = columns / kChunk;
    for (int i = lane; i < rows * per_row; i += kWarp) copy_chunk(i, i / per_row, i % per_row);
  } else {
    for (int i = lane; i < rows * columns; i += kWarp) {
      to[i] = *tile.at(i / columns, i % columns);
    }
  }
}

}  // namespace halfgrad::detail
