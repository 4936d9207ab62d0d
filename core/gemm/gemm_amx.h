#pragma once

#include <cstdint>

#include <halfgrad/core/dtype.h>
#include <halfgrad/core/gemm.h>
#include <halfgrad/core/gemm/gemm_operand.h>
#include <halfgrad/core/gemm/gemm_sums.h>

// Products of 16-bit matrices by AMX, the matrix unit of some Intel processors. Its instruction
// TDPBF16PS multiplies a tile of A, 16 rows of 16 pairs (a_0, a_1) of bf16 values, by a tile of B,
// 16 pairs (b_0, b_1) of each of 16 columns:
//
//     C = C + (sum of a_0 b_0 + sum of a_1 b_1)
//
// Both sums begin with 0 and are chains of 16 fused multiply-adds in float. Subnormal operands and
// sums count as 0. (Intel 64 and IA-32 Architectures Software Developer's Manual, TDPBF16PS.)
//
// A pair holds two neighbours along the depth. fp16 has 11 significant bits, bf16 has 8, so an fp16
// matrix is split into two bf16 matrices, high and low. Four instructions add the products of their
// parts, each exact, in this order:
//
//     A_high B_high,  A_high B_low,  A_low B_low,  A_low B_high
//
// No part or product of fp16 values is subnormal in float, so this loses nothing.
namespace halfgrad::detail {

// Whether AMX multiplies matrices of this dtype: the processor has it, the system lets this process
// use it, and the switches in gemm.h allow it.
bool uses_amx(DType dtype);

// Computes C = alpha A B + beta C + bias. S is Half or BFloat16; C has the same dtype or f32, any
// strides. An element of C is summed in an order that depends on the depth alone. `is_transposed`
// says that this product stands for that of the transposed matrices, whose bits C gets: the roles
// of A and B in the order of parts are exchanged.
template <class S>
void multiply_by_amx(const Operand<S>& a, const Operand<S>& b, const SumsEpilogue& epilogue,
                     const MutableMatrixView& c, bool is_transposed);

}  // namespace halfgrad::detail
