#pragma once

#include <halfgrad/core/gemm.h>

namespace halfgrad::detail {

/// gemm for matrices of floating dtypes on the CPU. The caller has checked the arguments.
void multiply_floats(double alpha, const MatrixView& a, const MatrixView& b, double beta,
                     const MutableMatrixView& c, const RowBias& bias);

}  // namespace halfgrad::detail
