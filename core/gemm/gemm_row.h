#pragma once

#include <algorithm>
#include <cstdint>

#include <halfgrad/core/gemm/gemm_kernel.h>
#include <halfgrad/core/gemm/gemm_operand.h>
#include <halfgrad/core/gemm/gemm_tile.h>
#include <halfgrad/core/thread_pool.h>

// gemm for a C of one row. Each element of B is used once, so B is read in place: packing it would
// take longer than multiplying. Sums have the same order as in multiply_tile.
namespace halfgrad::detail {

// Vectors of contiguous columns that are summed at once.
inline constexpr int kRowVectors = 8;
template <class T>
inline constexpr int kRowColumns = kRowVectors* kLanes<T>;

// Adds x B to `sum` for kRowColumns contiguous columns of B.
template <class T>
void sum_vectors(std::int64_t depth, const T* x, std::int64_t x_stride, const T* b,
                 std::int64_t row_stride, Vector<T> (&sum)[kRowVectors]) {
#pragma GCC unroll 2
  for (std::int64_t k = 0; k < depth; ++k, x += x_stride, b += row_stride) {
    const T factor = *x;
#pragma GCC unroll 8
    for (int i = 0; i < kRowVectors; ++i) {
      sum[i] = multiply_add<T>(factor, load(b + i * kLanes<T>), sum[i]);
    }
  }
}

// Returns x B for at most kLanes columns of B with any strides. Columns that are contiguous along k
// are transposed in registers, a square of lanes at a time.
template <class T>
Vector<T> sum_columns(std::int64_t depth, const T* x, std::int64_t x_stride, const T* b,
                      std::int64_t row_stride, std::int64_t col_stride, std::int64_t columns) {
  constexpr int kCount = kLanes<T>;
  const auto column = [&](int i) { return std::min<std::int64_t>(i, columns - 1) * col_stride; };
  Vector<T> sum = {};
  std::int64_t k = 0;
  for (; row_stride == 1 && k + kCount <= depth; k += kCount) {
    Vector<T> square[kCount];
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) square[i] = load(b + column(i) + k);
    transpose<T>(square);
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) {
      sum = multiply_add<T>(x[(k + i) * x_stride], square[i], sum);
    }
  }
  for (; k < depth; ++k) {
    const T* const row = b + k * row_stride;
    Vector<T> values;
    if (col_stride == 1 && columns == kCount) {
      values = load(row);
    } else {
      for (int i = 0; i < kCount; ++i) values[i] = row[column(i)];
    }
    sum = multiply_add<T>(x[k * x_stride], values, sum);
  }
  return sum;
}

// Computes columns [begin, end) of C = alpha x B + beta C + bias, where x is a row of A.
template <class T>
void multiply_row(const Operand<T>& x, const Operand<T>& b, std::int64_t begin, std::int64_t end,
                  const Destination<T>& c) {
  for_each_depth_block(
      b.rows, c, [&](std::int64_t k, std::int64_t depth, const Destination<T>& to) {
        const T* const factors = x.data + k * x.col_stride;
        const auto at = [&](std::int64_t col) {
          return depth == 0 ? b.data : b.data + k * b.row_stride + col * b.col_stride;
        };
        std::int64_t col = begin;
        for (; b.col_stride == 1 && col + kRowColumns<T> <= end; col += kRowColumns<T>) {
          Vector<T> sum[1][kRowVectors] = {};
          sum_vectors(depth, factors, x.col_stride, at(col), b.row_stride, sum[0]);
          store_sums<1, kRowVectors, T>(sum, to.at(0, col), kRowColumns<T>);
        }
        for (; col < end; col += kLanes<T>) {
          const std::int64_t columns = std::min<std::int64_t>(kLanes<T>, end - col);
          const Vector<T> sum[1][1] = {{sum_columns(depth, factors, x.col_stride, at(col),
                                                    b.row_stride, b.col_stride, columns)}};
          store_sums<1, 1, T>(sum, to.at(0, col), columns);
        }
      });
}

}  // namespace halfgrad::detail
