#pragma once

#include <halfgrad/core/dtype.h>

#include <cstdint>

namespace halfgrad {

/// A matrix somewhere in memory; strides count elements, either may be the longer one, or 0.
struct MatrixView {
  const void* data;
  DType dtype;
  int64_t rows, cols, row_stride, col_stride;
};

/// As MatrixView, to be written: no two elements may share memory.
struct MutableMatrixView {
  void* data;
  DType dtype;
  int64_t rows, cols, row_stride, col_stride;

  operator MatrixView() const { return {data, dtype, rows, cols, row_stride, col_stride}; }
};

/// As many contiguous numbers as C has columns, added to each row of C; none when `data` is null.
struct RowBias {
  const void* data = nullptr;
  DType dtype = kFloat32;
};

/// C = alpha A B + beta C + bias, on the CPU, for A (m, k), B (k, n), C (m, n).
///
/// A and B have one floating dtype and C has the same, or f32 where A and B have 16 bits; bias any
/// floating dtype. f64 is computed in f64 and all else in f32: 16-bit operands are widened exactly,
/// products are accumulated in f32, and C is rounded to 16 bits once, after beta and bias. beta ==
/// 0 does not read C. k == 0 gives beta C + bias.
///
/// Operands with a unit stride either way, so any transposed view, are used in place; others are
/// copied. Each element is summed in an order that depends on k alone: not on the number of
/// threads, and not on m, n or strides. Keeps scratch memory per calling thread, at most A, B and C
/// once in the accumulating dtype.
///
/// Built with HALFGRAD_BLAS, an installed BLAS multiplies instead, in an order of its own.
///
/// Throws std::invalid_argument when shapes or dtypes do not fit.
void gemm(double alpha, const MatrixView& a, const MatrixView& b, double beta,
          const MutableMatrixView& c, const RowBias& bias = {});

/// gemm for i < count on the matrices that begin i * stride elements after a, b and c. Stride 0
/// repeats A or B; c_stride must keep the results apart.
void gemm_batched(int64_t count, double alpha, const MatrixView& a, int64_t a_stride,
                  const MatrixView& b, int64_t b_stride, double beta, const MutableMatrixView& c,
                  int64_t c_stride, const RowBias& bias = {});

}  // namespace halfgrad
