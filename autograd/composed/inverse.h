#pragma once

#include <halfgrad/autograd/tensor.h>

/// Inverse trigonometric and hyperbolic functions, composed of the ops of ops.h. Angles are in
/// radians. Results are computed in float64 and rounded once to the dtype of the operand; integers
/// become float32. Values outside the domain give NaN. The arc... names are NumPy's.
namespace halfgrad {

Tensor asin(const Tensor& self);  ///< domain [-1, 1], results in [-pi/2, pi/2]
Tensor acos(const Tensor& self);  ///< domain [-1, 1], results in [0, pi]
Tensor atan(const Tensor& self);  ///< results in [-pi/2, pi/2]
/// The angle in [-pi, pi] between the x axis and the point (x, y) = (other, self). Operands
/// broadcast and promote. Signed zeros and infinities are as in C; the gradient at (0, 0) is 0.
Tensor atan2(const Tensor& self, const Tensor& other);
Tensor asinh(const Tensor& self);
Tensor acosh(const Tensor& self);  ///< domain [1, infinity)
Tensor atanh(const Tensor& self);  ///< domain [-1, 1]

inline Tensor arcsin(const Tensor& self) { return asin(self); }
inline Tensor arccos(const Tensor& self) { return acos(self); }
inline Tensor arctan(const Tensor& self) { return atan(self); }
inline Tensor arctan2(const Tensor& self, const Tensor& other) { return atan2(self, other); }
inline Tensor arcsinh(const Tensor& self) { return asinh(self); }
inline Tensor arccosh(const Tensor& self) { return acosh(self); }
inline Tensor arctanh(const Tensor& self) { return atanh(self); }

}  // namespace halfgrad
