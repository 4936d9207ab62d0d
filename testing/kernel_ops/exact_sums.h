#pragma once

#include <utility>
#include <vector>

#include <halfgrad/testing/kernel_op.h>

/// Sums that are exact in any order. The worst-case bound of a long sum allows to lose an element
/// or to round all of them to bfloat16; integers have no such bound: every partial sum is a
/// multiple of the unit u of the terms, below u 2^24 in float32.
namespace halfgrad::testing::detail {

/// True if every sum of elements of these operands is exact in this dtype.
bool sums_are_exact(DType accumulate, const std::vector<const Values*>& addends);

/// True if every sum of products of an element of a by one of b is exact, also added to an element
/// of `start`.
bool products_are_exact(DType accumulate, const Values& a, const Values& b,
                        const Values* start = nullptr);

/// The op, whose only output is a sum of elements of these operands.
KernelOp with_exact_sum(KernelOp op, const std::vector<std::size_t>& addends);
/// The op, whose only output is a product of two operands, plus an element of `start`, if any.
KernelOp with_exact_product(KernelOp op, std::size_t a, std::size_t b, int start = -1);

}  // namespace halfgrad::testing::detail
