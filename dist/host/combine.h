#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <halfgrad/core/dtype.h>
#include <halfgrad/dist/communicator.h>

namespace halfgrad::dist {

/// Combines n elements of each rank: out[i] = operands[0][i] op operands[1][i] op ..., in this
/// order. Floating dtypes are added in double for float64 and in float otherwise, and rounded to
/// `dtype` once. Sums of integers wrap around, and the sum of bools is true if any of them is.
/// `out` may be one of the operands.
void combine(DType dtype, ReduceOp op, std::span<const std::byte* const> operands, std::byte* out,
             std::int64_t n);

}  // namespace halfgrad::dist
