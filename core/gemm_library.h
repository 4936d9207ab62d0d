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

// Whether it takes matrices that lie so, and a C whose rows of consecutive numbers are `row_stride`
// apart. T is float or double.
template <class T>
bool library_takes(const Operand<T>& a, const Operand<T>& b, int64_t row_stride);

// C = alpha A B + beta C, where the library takes them; beta 0 does not read C.
template <class T>
void multiply_by_library(T alpha, const Operand<T>& a, const Operand<T>& b, T beta, T* c,
                         int64_t row_stride);

}  // namespace halfgrad::detail
