#pragma once

#include <halfgrad/core/array.h>

/// layer_norm, and rms_norm where not `centred`, by kernels written by hand. x is a matrix of rows
/// to be normalized, weight and bias are as long as a row or undefined, and `statistics` holds the
/// mean and 1 / deviation of each row. False, with nothing done, where the kernels do not take the
/// operands: f64, rows that are long, odd or not dense.
namespace halfgrad::detail {

bool normalize_on_cuda(bool centred, const Array& x, const Array& weight, const Array& bias,
                       double eps, const Array& y, const Array& statistics);

/// Besides dx, sums over some rows each of dy n and dy, n being the normalized x: their own sums
/// are the gradients of weight and bias.
struct NormalizeGradient {
  Array dx;     ///< as x
  Array parts;  ///< float32 [any number, 2, columns]
};

/// An undefined dx where it refuses.
NormalizeGradient normalize_gradient_on_cuda(bool centred, const Array& dy, const Array& x,
                                             const Array& weight, const Array& statistics);

}  // namespace halfgrad::detail
