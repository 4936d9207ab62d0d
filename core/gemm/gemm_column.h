#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include <halfgrad/core/gemm/gemm_kernel.h>
#include <halfgrad/core/gemm/gemm_operand.h>

// gemm for a C of one column and an A with contiguous rows: a matrix times a vector. A row's
// products are added in kPartialSums partial sums, since neighbouring elements of a row fill a
// vector. To add one product after the other would need a transpose in registers, which takes
// longer than the arithmetic.
//
//     partial_l = sum of a_k x_k for k = l, l + kPartialSums, l + 2 kPartialSums, ...
//
// The first half of the partial sums then adds the second half, until one is left. Like
// multiply_row, the functions see the transposed product: columns of B that are contiguous along
// the depth.
namespace halfgrad::detail {

// The same on every processor: an AVX-512 vector, or several shorter ones.
template <class T>
inline constexpr int kPartialSums = 64 / static_cast<int>(sizeof(T));
template <class T>
inline constexpr int kSumVectors = kPartialSums<T> / kLanes<T>;

// Eight vectors of sums at once hide the latency of the multiply-adds.
template <class T>
inline constexpr int kColumnsAtOnce = 8 / kSumVectors<T>;

// Returns how many elements of C one thread computes.
template <class T>
std::int64_t column_grain(std::int64_t depth) {
  return round_up(grain_of(depth, kMultiplyAddsPerChunk), kLanes<T>);
}

// Adds the last products, fewer than kPartialSums, to the sums of each column: those of elements k,
// k + 1, ... with x.
template <int Columns, class S, class T>
[[gnu::always_inline]] inline void add_last(std::int64_t count, const T* x,
                                            const S* const (&column)[Columns], std::int64_t k,
                                            Vector<T> (&sum)[Columns][kSumVectors<T>]) {
  if constexpr (kMasksLanes) {
    static_assert(kSumVectors<T> == 1);
    const Vector<T> factor = load_wide_first(count, x);
#pragma GCC unroll 8
    for (int i = 0; i < Columns; ++i) {
      sum[i][0] = fused(factor, load_wide_first(count, column[i] + k), sum[i][0]);
    }
  } else {
    T last_x[kPartialSums<T>] = {};
    S last[Columns][kPartialSums<T>] = {};
    copy_first(count, x, last_x);
    for (int i = 0; i < Columns; ++i) copy_first(count, column[i] + k, last[i]);
#pragma GCC unroll 4
    for (int v = 0; v < kSumVectors<T>; ++v) {
      const Vector<T> factor = load(last_x + v * kLanes<T>);
#pragma GCC unroll 8
      for (int i = 0; i < Columns; ++i) {
        sum[i][v] = fused(factor, load_wide(last[i] + v * kLanes<T>), sum[i][v]);
      }
    }
  }
}

// Sets totals[i] to a vector of sums of column i, which are still to be added, for at most Columns
// columns. The last column is repeated.
template <int Columns, class S, class T>
[[gnu::always_inline]] inline void sum_partially(std::int64_t depth, const T* x, const S* b,
                                                 std::int64_t col_stride, std::int64_t columns,
                                                 Vector<T>* totals) {
  constexpr int kCount = kPartialSums<T>, kVectors = kSumVectors<T>;
  const S* column[Columns];
#pragma GCC unroll 8
  for (int i = 0; i < Columns; ++i) {
    column[i] = b + std::min<std::int64_t>(i, columns - 1) * col_stride;
  }
  Vector<T> sum[Columns][kVectors] = {};
  std::int64_t k = 0;
  for (; k + kCount <= depth; k += kCount) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const Vector<T> factor = load(x + k + v * kLanes<T>);
#pragma GCC unroll 8
      for (int i = 0; i < Columns; ++i) {
        sum[i][v] = fused(factor, load_wide(column[i] + k + v * kLanes<T>), sum[i][v]);
      }
    }
  }
  if (k < depth) add_last<Columns>(depth - k, x + k, column, k, sum);
#pragma GCC unroll 8
  for (int i = 0; i < Columns; ++i) {
#pragma GCC unroll 4
    for (int half = kVectors / 2; half > 0; half /= 2) {
      for (int v = 0; v < half; ++v) sum[i][v] += sum[i][v + half];
    }
    totals[i] = sum[i][0];
  }
}

// Returns the sum of the lanes of each vector: lane i is that of sums[i]. Each stage of a butterfly
// transpose brings the lanes together that are added next.
template <class T, int Step = kLanes<T> / 2>
[[gnu::always_inline]] inline Vector<T> sums_of_lanes(Vector<T> (&sums)[kLanes<T>]) {
#pragma GCC unroll 8
  for (int i = 0; i < Step; ++i) {
    exchange<T, Step>(sums[i], sums[i + Step], std::make_integer_sequence<int, kLanes<T>>());
    sums[i] += sums[i + Step];
  }
  if constexpr (Step > 1) {
    return sums_of_lanes<T, Step / 2>(sums);
  } else {
    return sums[0];
  }
}

// Computes columns [begin, end) of C = alpha x B + beta C + bias.
template <class S, class T>
void multiply_column(const T* x, const Operand<S>& b, std::int64_t begin, std::int64_t end,
                     const Destination<T>& c) {
  constexpr int kAtOnce = std::min(kColumnsAtOnce<T>, kLanes<T>);
  for (std::int64_t col = begin; col < end; col += kLanes<T>) {
    const std::int64_t columns = std::min<std::int64_t>(kLanes<T>, end - col);
    const S* const from = b.rows == 0 ? b.data : b.data + col * b.col_stride;
    Vector<T> sums[kLanes<T>];
#pragma GCC unroll 8
    for (int i = 0; i < kLanes<T>; i += kAtOnce) {
      if (i >= columns) {
        std::fill_n(sums + i, kAtOnce, Vector<T>{});
        continue;
      }
      sum_partially<kAtOnce>(b.rows, x, from + i * b.col_stride, b.col_stride, columns - i,
                             sums + i);
    }
    const Vector<T> total[1][1] = {{sums_of_lanes<T>(sums)}};
    store_sums<1, 1, T>(total, c.at(0, col), columns);
  }
}

}  // namespace halfgrad::detail
