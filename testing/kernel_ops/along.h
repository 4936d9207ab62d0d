#pragma once

#include <halfgrad/testing/kernel_op.h>

namespace halfgrad::testing::detail {

/// An op on the rows of [m, k] that goes along dimension `dim` of operands with `ndim` dimensions
/// instead. Results for each row lose the dimension.
KernelOp along(const KernelOp& op, int dim, int ndim);

}  // namespace halfgrad::testing::detail
