#pragma once

#include <cstdint>
#include <optional>

#include <halfgrad/core/dtype.h>
#include <halfgrad/core/gemm.h>

/// An operand of gemm_small.cu, and how a matrix becomes one.
namespace halfgrad::detail {

/// A or B as it is stored: rows of contiguous elements, either along k (K-major) or across it.
struct ProductOperand {
  const void* data;
  std::int64_t rows, length, stride;
  bool k_major;
  int copy_bytes;  ///< 16, 4 or 2, to which every row is aligned
};

/// The widest of 16 and 4 bytes, or else 2, to which every row is aligned.
inline int copy_bytes(const ProductOperand& rows, DType dtype) {
  const auto address = reinterpret_cast<std::uintptr_t>(rows.data);
  const std::int64_t stride = rows.rows == 1 ? 0 : rows.stride * item_size(dtype);
  for (const int bytes : {16, 4}) {
    if (address % static_cast<std::uintptr_t>(bytes) == 0 && stride % bytes == 0) return bytes;
  }
  return 2;
}

/// Returns the view as rows of contiguous elements, or nothing if neither stride is 1. k runs along
/// the view's columns if `k_is_column`. The stride of a dimension of size 1 is not used.
inline std::optional<ProductOperand> as_operand(const MatrixView& m, bool k_is_column) {
  const bool by_rows = m.col_stride == 1 || m.cols == 1;
  const bool by_columns = m.row_stride == 1 || m.rows == 1;
  if (!by_rows && !by_columns) return std::nullopt;
  const bool rows = by_rows && (!by_columns || m.cols >= m.rows);
  ProductOperand stored =
      rows ? ProductOperand{m.data, m.rows, m.cols, m.row_stride, k_is_column, 2}
           : ProductOperand{m.data, m.cols, m.rows, m.col_stride, !k_is_column, 2};
  stored.copy_bytes = copy_bytes(stored, m.dtype);
  return stored;
}

}  // namespace halfgrad::detail
