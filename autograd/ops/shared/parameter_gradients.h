#pragma once

#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// dW [out, in] and db [out] of a linear layer.
struct ParameterGradients {
  Array weight, bias;
};

/// Returns the gradients of y = x W^T + b for dy [rows, out] and x [rows, in]: dW = dy^T x, and db,
/// the sum of dy's rows. One kernel computes both where there is such a kernel. x is rounded to the
/// dtype of dy if it is wider. dW is written to `weight`, which has the dtype of dy, if that is
/// defined and there is no such kernel.
ParameterGradients parameter_gradients(const Array& dy, const Array& x, const Array& weight = {});

}  // namespace halfgrad::detail
