#pragma once

#include <cstdint>

#include <halfgrad/core/gemm/gemm_operand.h>
#include <halfgrad/core/gemm/gemm_sums.h>

// Products with a C of one row. They have the bits of AMX, but do not use it: each element of B is
// used once, so packing B into tiles would take longer than multiplying. B is read in place, and
// the sums of gemm_amx.h are computed for one vector of columns after the other.
namespace halfgrad::detail {

// Whether this build has multiply_amx_row(), which needs fused multiply-adds.
#if defined(__FMA__)
inline constexpr bool kHasAmxRow = true;
#else
inline constexpr bool kHasAmxRow = false;
#endif

// Computes what multiply_by_amx() does, for an A of one row.
template <class S>
void multiply_amx_row(const Operand<S>& a, const Operand<S>& b, const SumsEpilogue& epilogue,
                      const MutableMatrixView& c, bool is_transposed);

}  // namespace halfgrad::detail
