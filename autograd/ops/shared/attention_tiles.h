#pragma once

#include <halfgrad/core/cuda/kernels/attention.h>

/// The kernels of core/cuda/kernels/attention.h on a CPU: the same sums in the same tiles.
namespace halfgrad::detail {

void attention_on_cpu(const AttentionOperands& operands, const Array& y, const Array& lse);

AttentionGradients attention_gradient_on_cpu(const AttentionOperands& operands, const Array& dy,
                                             const Array& y, const Array& lse);

}  // namespace halfgrad::detail
