#pragma once

#include <string>

#include <halfgrad/core/cuda/kernels/gemm.h>

/// Matrix products in cuBLASLt's terms, which are column-major.
namespace halfgrad::detail {

/// A matrix, or a batch of them, as cuBLASLt describes it.
struct ColumnMajor {
  const void* data;
  DType dtype;
  std::int64_t rows, cols, leading;  ///< as stored, with the leading dimension
  std::int64_t batch_stride;
  bool transposed;  ///< the product uses the transpose
};

/// C = alpha A B + beta C, where C is the transpose of the caller's C, A of its B, and B of its A.
/// The epilogue's rows are columns here.
struct ColumnMajorProduct {
  Device device;
  std::int64_t count;
  double alpha, beta;
  ColumnMajor a, b, c;
  Epilogue epilogue;
};

/// Returns the product in the caller's terms: "[2, 3] by [3, 4] of float16 to float32".
std::string description(const ColumnMajorProduct& product);

/// Returns false and does nothing if cuBLASLt has no algorithm for the product, refuses its
/// epilogue, or would hide a NaN in it.
bool multiply_by_cublaslt(const ColumnMajorProduct& product);

}  // namespace halfgrad::detail
