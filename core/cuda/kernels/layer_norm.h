#pragma once

#include <halfgrad/core/array.h>

/// Hand-written kernels for layer_norm and, if not `centred`, rms_norm. They normalize the rows of
/// a matrix x. weight and bias have the length of a row or are undefined; `statistics` holds the
/// mean and 1 / deviation of each row. The kernels do not take f64, rows of more than 8192
/// elements, rows whose length is not a multiple of 8, or rows that are not contiguous.
namespace halfgrad::detail {

/// Returns false and does nothing for operands that the kernel does not take.
bool normalize_on_cuda(bool centred, const Array& x, const Array& weight, const Array& bias,
                       double eps, const Array& y, const Array& statistics);

/// dx, and partial sums over rows of dy n and dy, where n is the normalized x. The sums of the
/// parts are the gradients of weight and bias.
struct NormalizeGradient {
  Array dx;     ///< as x
  Array parts;  ///< float32 [blocks, 2, columns]
};

/// Returns an undefined dx for operands that the kernel does not take.
NormalizeGradient normalize_gradient_on_cuda(bool centred, const Array& dy, const Array& x,
                                             const Array& weight, const Array& statistics);

}  // namespace halfgrad::detail
