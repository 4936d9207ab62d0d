#pragma once

#include <halfgrad/core/cuda/kernels/gemm.h>

/// The product of 16-bit matrices with a small C, by our own kernel.
namespace halfgrad::detail {

/// Queues C = A B with an epilogue of a bias, relu, relu_output or row_sums_of_a. Returns false and
/// does nothing unless set_gemm_backend and the shape choose this kernel, and it takes the
/// operands: 16 bits, a unit stride in one dimension of A and of B, alpha = 1, beta = 0, one
/// matrix, and a bias of their dtype or f32.
///
/// A or B may be f32, with rows along k for A, across it for B, and the same of the other operand.
/// Its elements are rounded to nearest even, as a cast rounds, when they are loaded: C has the bits
/// of a product of the operand that was cast before.
///
/// Every sum is in f32, by tensor cores, which keep subnormals, and the bias is added in f32. C is
/// rounded once. inf and NaN propagate by the rules of IEEE 754; every NaN becomes the same one.
bool multiply_small(const GemmCall& call);

}  // namespace halfgrad::detail
