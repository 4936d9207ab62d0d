#pragma once

#include <algorithm>
#include <cstdint>

#include <halfgrad/core/gemm/gemm_kernel.h>
#include <halfgrad/core/gemm/gemm_operand.h>
#include <halfgrad/core/gemm/gemm_tile.h>
#include <halfgrad/core/thread_pool.h>

// gemm for a C of one row, x B. Each element of B is used once, so B is read in place: packing it
// would take longer than multiplying. Sums have the same order as in multiply_tile.
namespace halfgrad::detail {

// The most columns that are summed at once: their sums stay in the L1 cache.
inline constexpr std::int64_t kRowColumns = 1024;

// Returns how many of `columns` columns a thread sums at a time. Few columns would break the rows
// of B into pieces too short for the processor to prefetch. Columns are independent of each other,
// so the number of threads changes no bits.
template <class T>
std::int64_t row_grain(std::int64_t depth, std::int64_t columns) {
  constexpr std::int64_t kFewest = 256, kParts = 4;
  if (get_num_threads() == 1) return std::max<std::int64_t>(1, columns);
  const std::int64_t part = std::clamp(columns / kParts, kFewest, kRowColumns);
  return round_up(std::max(part, grain_of(depth, kMultiplyAddsPerChunk)), kLanes<T>);
}

// Sets `sums` to x B for at most Vectors vectors of columns, whose sums stay in registers. The last
// vector ends with the last column, so its first lanes may repeat earlier columns.
template <int Vectors, class S, class T>
void sum_rows(std::int64_t depth, const T* x, const S* b, std::int64_t row_stride,
              std::int64_t columns, T* sums) {
  std::int64_t offset[Vectors];
  for (int i = 0; i < Vectors; ++i) {
    offset[i] = std::min<std::int64_t>(i * kLanes<T>, columns - kLanes<T>);
  }
  Vector<T> sum[Vectors] = {};
  for (std::int64_t k = 0; k < depth; ++k, b += row_stride) {
#pragma GCC unroll 8
    for (int i = 0; i < Vectors; ++i) {
      sum[i] = multiply_add<T>(x[k], load_wide(b + offset[i]), sum[i]);
    }
  }
  for (int i = 0; i < Vectors; ++i) store<T>(sum[i], sums + i * kLanes<T>);
}

// Adds Rows rows of B, each times its element of x, to `sums`, vectors of columns as in sum_rows.
// The sums of Vectors vectors stay in registers, and fewer for the last columns.
template <int Rows, int Vectors, class S, class T>
void add_rows(const T* x, const S* b, std::int64_t row_stride, std::int64_t first,
              std::int64_t columns, T* sums) {
  constexpr std::int64_t kStep = Vectors * kLanes<T>;
  std::int64_t col = first;
  for (; col + (Vectors == 1 ? 1 : kStep) <= columns; col += kStep) {
    const S* row = b + (Vectors == 1 ? std::min(col, columns - kLanes<T>) : col);
    Vector<T> sum[Vectors];
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) sum[v] = load(sums + col + v * kLanes<T>);
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i, row += row_stride) {
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) {
        sum[v] = multiply_add<T>(x[i], load_wide(row + v * kLanes<T>), sum[v]);
      }
    }
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) store<T>(sum[v], sums + col + v * kLanes<T>);
  }
  if constexpr (Vectors > 1) {
    if (col < columns) add_rows<Rows, Vectors / 2>(x, b, row_stride, col, columns, sums);
  }
}

// Returns x B for at most kLanes columns of B with any strides. Columns that are contiguous along k
// are transposed in registers, a square of lanes at a time.
template <class S, class T>
Vector<T> sum_columns(std::int64_t depth, const T* x, const S* b, std::int64_t row_stride,
                      std::int64_t col_stride, std::int64_t columns) {
  constexpr int kCount = kLanes<T>;
  const auto column = [&](int i) { return std::min<std::int64_t>(i, columns - 1) * col_stride; };
  Vector<T> sum = {};
  std::int64_t k = 0;
  for (; row_stride == 1 && k + kCount <= depth; k += kCount) {
    Vector<T> square[kCount];
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) square[i] = load_wide(b + column(i) + k);
    transpose<T>(square);
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) sum = multiply_add<T>(x[k + i], square[i], sum);
  }
  for (; k < depth; ++k) {
    Vector<T> values;
    for (int i = 0; i < kCount; ++i) values[i] = element<S, T>(b[k * row_stride + column(i)]);
    sum = multiply_add<T>(x[k], values, sum);
  }
  return sum;
}

// Returns x B for fewer than kLanes columns, whose rows of B are contiguous.
template <class S, class T>
Vector<T> sum_short_rows(std::int64_t depth, const T* x, const S* b, std::int64_t row_stride,
                         std::int64_t columns) {
  Vector<T> sum = {};
  for (std::int64_t k = 0; k < depth; ++k, b += row_stride) {
    sum = multiply_add<T>(x[k], load_wide_first(columns, b), sum);
  }
  return sum;
}

// Computes columns of C, at most kRowColumns, whose rows of B are contiguous and begin at `b`.
template <class S, class T>
void multiply_contiguous(std::int64_t depth, const T* x, const S* b, std::int64_t row_stride,
                         std::int64_t columns, const Destination<T>& to) {
  constexpr int kRows = 8, kVectors = 8;  // eight multiply-adds for each load and store of a sum
  alignas(64) T sums[kRowColumns + kLanes<T>];
  if (columns <= 4 * kLanes<T>) {
    sum_rows<4>(depth, x, b, row_stride, columns, sums);
  } else if (columns <= 8 * kLanes<T>) {
    sum_rows<8>(depth, x, b, row_stride, columns, sums);
  } else {
    std::fill_n(sums, columns + kLanes<T>, T(0));
    std::int64_t k = 0;
    for (; k + kRows <= depth; k += kRows) {
      add_rows<kRows, kVectors>(x + k, b + k * row_stride, row_stride, 0, columns, sums);
    }
    for (; k < depth; ++k) {
      add_rows<1, kVectors>(x + k, b + k * row_stride, row_stride, 0, columns, sums);
    }
  }
  for (std::int64_t col = 0; col < columns; col += kLanes<T>) {
    const std::int64_t count = std::min<std::int64_t>(kLanes<T>, columns - col);
    const Vector<T> sum[1][1] = {{load(sums + col + kLanes<T> - count)}};
    store_sums<1, 1, T>(sum, to.at(0, col), count);
  }
}

// Computes columns [begin, end) of C = alpha x B + beta C + bias.
template <class S, class T>
void multiply_row(const T* x, const Operand<S>& b, std::int64_t begin, std::int64_t end,
                  const Destination<T>& c) {
  const bool contiguous = b.col_stride == 1 && end >= kLanes<T>;
  const std::int64_t step = contiguous ? kRowColumns : kLanes<T>;
  for_each_depth_block(
      b.rows, c, [&](std::int64_t k, std::int64_t depth, const Destination<T>& to) {
        for (std::int64_t col = begin; col < end; col += step) {
          const std::int64_t columns = std::min(step, end - col);
          const S* const from =
              depth == 0 ? b.data : b.data + k * b.row_stride + col * b.col_stride;
          if (contiguous) {
            multiply_contiguous(depth, x + k, from, b.row_stride, columns, to.at(0, col));
          } else {
            const Vector<T> sum[1][1] = {
                {kMasksLanes && b.col_stride == 1
                     ? sum_short_rows(depth, x + k, from, b.row_stride, columns)
                     : sum_columns(depth, x + k, from, b.row_stride, b.col_stride, columns)}};
            store_sums<1, 1, T>(sum, to.at(0, col), columns);
          }
        }
      });
}

}  // namespace halfgrad::detail
