#pragma once

#include <halfgrad/core/gemm.h>

namespace halfgrad::detail {

/// gemm on the CPU of matrices of one integer dtype, which have been checked.
void multiply_integers(int64_t alpha, const MatrixView& a, const MatrixView& b, int64_t beta,
                       const MutableMatrixView& c, const RowBias& bias);

}  // namespace halfgrad::detail
