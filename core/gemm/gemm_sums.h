#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <halfgrad/core/gemm.h>
#include <halfgrad/core/gemm/gemm_kernel.h>
#include <halfgrad/core/gemm/gemm_operand.h>
#include <halfgrad/core/gemm/gemm_tile.h>
#include <halfgrad/core/numbers/convert.h>

// The sums of a product of 16-bit matrices on their way to C, for the kernels that use AVX512_BF16
// (gemm_bf16.h) and AMX (gemm_amx.h).
namespace halfgrad::detail {

inline constexpr int kSumColumns = 32;

// The factors of C = alpha A B + beta C + bias; no bias when `bias` is null.
struct SumsEpilogue {
  float alpha, beta;
  const float* bias;
};

// A tile's part of one strip of B, in rows of kSumColumns: it stays in the L1 cache until all
// products have been added, and C is written once.
struct Sums {
  alignas(64) float elements[kFewRows * kSumColumns];

  float* row(std::int64_t i) { return elements + i * kSumColumns; }

  void add_bias(std::int64_t rows, std::int64_t columns, const float* bias) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) row(i)[j] += bias[j];
    }
  }
};

// Sets `rows` rows of `sums` to alpha product + beta sums. beta 0 does not read `sums`.
inline void set_scaled(const float* product, std::int64_t rows, const SumsEpilogue& epilogue,
                       float* sums) {
  for (std::int64_t i = 0; i < rows * kSumColumns; i += kLanes<float>) {
    Vector<float> value = scaled<float>(epilogue.alpha, load(product + i));
    if (epilogue.beta != 0) value = multiply_add<float>(epilogue.beta, load(sums + i), value);
    store<float>(value, sums + i);
  }
}

// Rounds whole rows of sums to S and stores them in C's contiguous rows.
template <class S>
void store_whole_rows(const Sums& sums, std::int64_t rows, const MutableMatrixView& part) {
  S narrowed[kFewRows * kSumColumns];  // one call is faster than one for each row
  narrow(sums.elements, narrowed, rows * kSumColumns);
  auto* out = static_cast<S*>(part.data);
  for (std::int64_t i = 0; i < rows; ++i, out += part.row_stride) {
    std::memcpy(out, narrowed + i * kSumColumns, kSumColumns * sizeof(S));
  }
}

// Rounds the sums to C's dtype and stores them in `part`, a part of C.
inline void store_sums(const Sums& sums, std::int64_t rows, std::int64_t columns,
                       const MutableMatrixView& part) {
  if (part.col_stride == 1 && columns == kSumColumns) {
    if (part.dtype == kBFloat16) return store_whole_rows<BFloat16>(sums, rows, part);
    if (part.dtype == kFloat16) return store_whole_rows<Half>(sums, rows, part);
  }
  narrow_tile({0, rows, 0, columns}, sums.elements, part);
}

// The part of C at (row, col), with kSumColumns as its number of columns: for_each_row() takes that
// for the row stride of Sums.
inline MutableMatrixView part_of(const MutableMatrixView& c, std::int64_t row, std::int64_t col) {
  MutableMatrixView part = c;
  part.data =
      static_cast<char*>(c.data) + (row * c.row_stride + col * c.col_stride) * item_size(c.dtype);
  part.cols = kSumColumns;
  return part;
}

// Computes a tile of C, kSumColumns columns at a time. multiply(col, columns, sums) sets `sums` to
// alpha A B + beta sums for `columns` columns from `col`.
template <class F>
void compute_sums(const Tile& tile, const SumsEpilogue& epilogue, const MutableMatrixView& c,
                  const F& multiply) {
  Sums sums;
  for (std::int64_t col = tile.col; col < tile.col + tile.cols; col += kSumColumns) {
    const std::int64_t columns = std::min<std::int64_t>(kSumColumns, tile.col + tile.cols - col);
    const MutableMatrixView part = part_of(c, tile.row, col);
    if (epilogue.beta != 0) widen_tile({0, tile.rows, 0, columns}, part, sums.elements);
    multiply(col, columns, sums);
    if (epilogue.bias != nullptr) sums.add_bias(tile.rows, columns, epilogue.bias + col);
    store_sums(sums, tile.rows, columns, part);
  }
}

}  // namespace halfgrad::detail
