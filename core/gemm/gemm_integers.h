#pragma once

#include <halfgrad/core/gemm.h>

namespace halfgrad::detail {

/// gemm for matrices of one integer dtype on the CPU. The caller has checked the arguments.
void multiply_integers(std::int64_t alpha, const MatrixView& a, const MatrixView& b,
                       std::int64_t beta, const MutableMatrixView& c, const RowBias& bias);

}  // namespace halfgrad::detail
