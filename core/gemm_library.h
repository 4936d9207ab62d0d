#pragma once

#include <cstdint>

#include <halfgrad/core/gemm_operand.h>

// The library that takes the CPU's products instead of ours, where halfgrad is built with
// HALFGRAD_GEMM=eigen or blas.
namespace halfgrad::detail {

#if defined(HALFGRAD_GEMM_EIGEN) || defined(HALFGRAD_GEMM_BLAS)
inline constexpr bool kLibraryMultiplies = true;
#else
inline constexpr bool kLibraryMultiplies = false;
#endif

// C = alpha A B + beta C for row-major C; beta 0 does not read C. False, and nothing done, where
// the library does not take the strides. T is float or double.
template <class T>
bool multiply_by_library(T alpha, const Operand<T>& a, const Operand<T>& b, T beta, T* c,
                         int64_t row_stride);

}  // namespace halfgrad::detail
