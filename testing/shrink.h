#pragma once

#include <functional>
#include <vector>

#include <halfgrad/testing/kernel_check.h>

namespace halfgrad::testing {

/// What a case does to a kernel.
using RunCase = std::function<CaseResult(const Dims&, const std::vector<Values>& operands)>;

/// Makes a failing case smaller for as long as it fails in the same way: first its dims, keeping
/// the leading corner of each operand, then numbers that become 0, then 1, then integers.
ShrunkCase shrink(const KernelOp& op, const Dims& dims, const std::vector<Values>& operands,
                  const RunCase& run);

}  // namespace halfgrad::testing
