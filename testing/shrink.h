#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <halfgrad/testing/kernel_check.h>

namespace halfgrad::testing {

/// Runs the kernel on one case.
using RunCase = std::function<CaseResult(const Dims&, const std::vector<Values>& operands)>;

/// Makes a failing case smaller as long as it fails with the same fault, for at most `seconds`.
/// First bisects the dims, keeping the leading corner of each operand, then replaces elements by 0,
/// by 1, and by integers. Returns nothing if the case does not fail.
std::optional<ShrunkCase> shrink(const KernelOp& op, const Dims& dims,
                                 const std::vector<Values>& operands, const RunCase& run,
                                 double seconds);

}  // namespace halfgrad::testing
