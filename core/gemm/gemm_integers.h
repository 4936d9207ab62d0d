#pragma once

#include <halfgrad/core/gemm.h>

namespace halfgrad::detail {

/// gemm for matrices of one integer dtype on the CPU. The caller has checked the arguments.
void multiply_integers(int64_t alpha, const MatrixView& a, const MatrixView& b, int64_t beta,
                       const MutableMatrixView& c, const RowBias& bias);

}  // namespace halfgrad::detail
