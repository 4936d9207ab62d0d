#pragma once

#include <cstdint>

#include <halfgrad/core/gemm/gemm_operand.h>
#include <halfgrad/core/gemm/gemm_sums.h>

// A C of one row without AMX, but with its bits: each element of B is used once, so packing B into
// tiles would take longer than multiplying. B is read in place, and vectors of columns go through
// the sums of gemm_amx.h one by one.
namespace halfgrad::detail {

// Whether this build can: it needs fused multiply-adds.
#if defined(__FMA__)
inline constexpr bool kHasAmxRow = true;
#else
inline constexpr bool kHasAmxRow = false;
#endif

// As multiply_by_amx(), for an A of one row.
template <class S>
void multiply_amx_row(const Operand<S>& a, const Operand<S>& b, const SumsEpilogue& epilogue,
                      const MutableMatrixView& c, bool is_transposed);

}  // namespace halfgrad::detail
