#pragma once

#include <vector>

#include <halfgrad/core/array.h>
#include <halfgrad/dist/communicator.h>

namespace halfgrad::dist {

/// Combines the arrays of all ranks on their device, as combine() in host/combine.h does:
/// out[i] = operands[0][i] op operands[1][i] op ..., in this order, rounded once. `out` may be one
/// of the operands.
void combine_ranks(ReduceOp op, const std::vector<Array>& operands, const Array& out);

}  // namespace halfgrad::dist
