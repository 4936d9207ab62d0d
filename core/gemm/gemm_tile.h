#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <halfgrad/core/gemm.h>
#include <halfgrad/core/gemm/gemm_kernel.h>
#include <halfgrad/core/gemm/gemm_operand.h>
#include <halfgrad/core/numbers/convert.h>

// Cuts C into tiles, which threads compute independently of each other, and computes one.
namespace halfgrad::detail {

// kDepthBlock rows of a strip of B stay in the L1 cache, kTileRows x kDepthBlock of A in the L2
// cache. A C of up to kFewRows rows and at least as many columns is cut into one row of tiles.
inline constexpr std::int64_t kDepthBlock = 288;
inline constexpr std::int64_t kTileRows = 96, kFewRows = 144;
static_assert(kTileRows % kStripRows == 0);

// A range of rows and columns of C: whole strips, except at the edges of C.
struct Tile {
  std::int64_t row, rows, col, cols;
};

// Cuts C into enough tiles to keep threads busy.
class Tiling {
 public:
  // The tiles are whole strips of `strip_rows` rows of A and `strip_columns` columns of B.
  Tiling(std::int64_t rows, std::int64_t cols, std::int64_t strip_rows, std::int64_t strip_columns,
         std::int64_t tile_rows = kTileRows)
      : rows_(rows), cols_(cols) {
    down_ = rows <= std::min(kFewRows, cols) ? 1 : divide_up(rows, tile_rows);
    height_ = round_up(divide_up(rows, down_), strip_rows);
    width_ = 32 * strip_columns;
    while (width_ > 2 * strip_columns && down_ * divide_up(cols, width_) < kEnough) width_ /= 2;
    across_ = divide_up(cols, width_);
  }

  std::int64_t count() const { return down_ * across_; }
  bool one_row() const { return down_ == 1; }
  std::int64_t area() const { return height_ * std::min(width_, cols_); }

  Tile operator[](std::int64_t index) const {
    const std::int64_t row = index / across_ * height_, col = index % across_ * width_;
    return {row, std::min(height_, rows_ - row), col, std::min(width_, cols_ - col)};
  }

 private:
  static constexpr std::int64_t kEnough = 16;

  std::int64_t rows_, cols_, down_, across_, height_, width_;
};

// A as the kernel reads it: in its own contiguous rows, or packed into strips.
template <class T>
struct Strips {
  const T* data;
  std::int64_t row_stride;  // if packed, the distance between strips divided by kStripRows
  bool packed;

  const T* strip(std::int64_t row, std::int64_t k) const {
    return data + row * row_stride + (packed ? k * kStripRows : k);
  }
  MultiplyStrips<T> multiply(std::int64_t rows, std::int64_t columns) const {
    return packed ? multiply_strips_of<true, T>(rows, columns)
                  : multiply_strips_of<false, T>(rows, columns);
  }
};

// B, with all of its strips if several rows of tiles share them. Otherwise the only tile that needs
// a strip packs it, one block at a time: the block is then in the L1 cache, and no thread waits for
// another to pack.
template <class T>
struct PackedOperand {
  Operand<T> matrix;
  const T* strips;

  const T* strip(std::int64_t col, std::int64_t columns, std::int64_t k, std::int64_t block,
                 T* scratch) const {
    if (strips != nullptr) return strips + col * matrix.rows + k * kStripColumns<T>;
    pack_strip<kStripColumns<T>>(matrix, col, columns, k, block, scratch);
    return scratch;
  }
};

// Calls f(first k, count, to) for each block of the depth, in order. The first block applies beta
// to the old C, the others add to C, and the last adds the bias.
template <class T, class F>
void for_each_depth_block(std::int64_t depth, const Destination<T>& c, const F& f) {
  if (depth <= kDepthBlock) return f(0, depth, c);
  const std::int64_t blocks = divide_up(depth, kDepthBlock);
  for (std::int64_t i = 0; i < blocks; ++i) {
    const std::int64_t k = i * depth / blocks;
    Destination<T> to = c;
    if (i > 0) to.beta = T(1);
    if (i + 1 < blocks) to.bias = nullptr;
    f(k, (i + 1) * depth / blocks - k, to);
  }
}

// Computes a tile of C: for each block of the depth, each strip of B with each strip of A.
template <class T>
void multiply_tile(const Tile& tile, const Strips<T>& a, const PackedOperand<T>& b,
                   const Destination<T>& c) {
  alignas(64) T scratch[kDepthBlock * kStripColumns<T>];
  for_each_depth_block(
      b.matrix.rows, c, [&](std::int64_t k, std::int64_t block, const Destination<T>& to) {
        for (std::int64_t col = tile.col; col < tile.col + tile.cols; col += kStripColumns<T>) {
          const std::int64_t columns =
              std::min<std::int64_t>(kStripColumns<T>, tile.col + tile.cols - col);
          const T* b_strip = b.strip(col, columns, k, block, scratch);
          for (std::int64_t row = tile.row; row < tile.row + tile.rows; row += kStripRows) {
            const std::int64_t rows =
                std::min<std::int64_t>(kStripRows, tile.row + tile.rows - row);
            a.multiply(rows, columns)(block, a.strip(row, k), a.row_stride, b_strip,
                                      to.at(row, col), columns);
          }
        }
      });
}

// Calls f(row of `wide`, row of C) with pointers to each row of a tile. `wide` is C in the
// accumulating type, contiguous.
template <class Wide, class F>
void for_each_row(const Tile& tile, Wide* wide, const MutableMatrixView& c, const F& f) {
  visit(c.dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    for (std::int64_t row = tile.row; row < tile.row + tile.rows; ++row) {
      f(wide + row * c.cols + tile.col,
        static_cast<S*>(c.data) + row * c.row_stride + tile.col * c.col_stride);
    }
  });
}

// Copies a tile of C to `wide`.
template <class T>
void widen_tile(const Tile& tile, const MutableMatrixView& c, T* wide) {
  for_each_row(tile, wide, c, [&]<class S>(T* out, const S* in) {
    copy_strided(in, c.col_stride, out, tile.cols);
  });
}

// Copies a tile of `wide` to C, rounded to C's dtype.
template <class T>
void narrow_tile(const Tile& tile, const T* wide, const MutableMatrixView& c) {
  for_each_row(tile, wide, c, [&]<class S>(const T* in, S* out) {
    if constexpr (is_reduced(dtype_of<S>()) && std::is_same_v<T, float>) {
      if (c.col_stride == 1) return narrow(in, out, tile.cols);
    }
    for (std::int64_t i = 0; i < tile.cols; ++i) {
      out[i * c.col_stride] = static_cast<S>(static_cast<compute_t<S>>(in[i]));
    }
  });
}

}  // namespace halfgrad::detail
