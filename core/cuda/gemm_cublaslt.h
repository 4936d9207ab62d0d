#pragma once

#include <string>

#include <halfgrad/core/cuda/gemm.h>

/// Matrix products as cuBLASLt sees them: column by column.
namespace halfgrad::detail {

struct ColumnMajor {
  const void* data;
  DType dtype;
  std::int64_t rows, cols, leading;  ///< as stored; `leading` elements from column to column
  std::int64_t batch_stride;
  bool transposed;  ///< the product takes it transposed
};

/// C = alpha A B + beta C with an epilogue whose rows are the columns here: C is the transpose of
/// ours, A of our B, and B of our A.
struct ColumnMajorProduct {
  Device device;
  std::int64_t count;
  double alpha, beta;
  ColumnMajor a, b, c;
  Epilogue epilogue;
};

/// In our terms: "[2, 3] by [3, 4] of float16 to float32".
std::string description(const ColumnMajorProduct& product);

/// False, with nothing done, when cuBLASLt has no algorithm for it, refuses its epilogue for
/// whatever reason, or would hide a NaN in it.
bool multiply_by_cublaslt(const ColumnMajorProduct& product);

}  // namespace halfgrad::detail
