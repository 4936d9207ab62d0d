#pragma once

#include <cstdint>

#include <halfgrad/core/gemm/gemm_operand.h>

// The library that computes matrix products on the CPU instead of our kernel, if halfgrad is built
// with HALFGRAD_GEMM=eigen or blas.
namespace halfgrad::detail {

#if defined(HALFGRAD_GEMM_EIGEN) || defined(HALFGRAD_GEMM_BLAS)
inline constexpr bool kLibraryMultiplies = true;
#else
inline constexpr bool kLibraryMultiplies = false;
#endif

// Returns whether the library takes operands with these sizes and strides, and a C with contiguous
// rows and leading dimension `row_stride`. T is float or double.
template <class T>
bool library_takes(const Operand<T>& a, const Operand<T>& b, std::int64_t row_stride);

// Computes C = alpha A B + beta C for operands that the library takes. beta 0 does not read C.
template <class T>
void multiply_by_library(T alpha, const Operand<T>& a, const Operand<T>& b, T beta, T* c,
                         std::int64_t row_stride);

}  // namespace halfgrad::detail
