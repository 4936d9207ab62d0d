#pragma once

#include <optional>

#include <halfgrad/autograd/tensor.h>

/// Functions of one element or of two, composed of the ops of ops.h, so that their gradients follow
/// from those. Operands broadcast and promote as in PyTorch; where the result is a fraction,
/// integers become float32. Results of float16 and bfloat16 are computed in float32 or float64 and
/// rounded once.
namespace halfgrad {

/// x - trunc(x). Throws std::invalid_argument for integers.
Tensor frac(const Tensor& self);
/// Replaces NaN, inf and -inf, when absent by 0 and the largest and smallest finite values of the
/// dtype. The gradient is 0 there. Returns a copy of an integer tensor. Throws
/// std::invalid_argument for a finite replacement outside the range of the dtype.
Tensor nan_to_num(const Tensor& self, std::optional<double> nan = std::nullopt,
                  std::optional<double> posinf = std::nullopt,
                  std::optional<double> neginf = std::nullopt);
/// self. Throws std::invalid_argument for bool.
Tensor positive(const Tensor& self);
Tensor deg2rad(const Tensor& self);
Tensor rad2deg(const Tensor& self);

/// The hyperbolic sine and cosine: at most 8 roundoffs off in float64, 1 in other dtypes.
Tensor sinh(const Tensor& self);
Tensor cosh(const Tensor& self);
/// sin(pi x) / (pi x), and 1 at 0.
Tensor sinc(const Tensor& self);
/// log(x / (1 - x)), NaN outside [0, 1]. If eps >= 0, x is clamped to [eps, 1 - eps] first.
Tensor logit(const Tensor& self, std::optional<double> eps = std::nullopt);

/// log(exp(self) + exp(other)), without overflow. Throws std::invalid_argument for two integer
/// tensors.
Tensor logaddexp(const Tensor& self, const Tensor& other);
/// self * log(other), and 0 where self is 0, unless other is NaN.
Tensor xlogy(const Tensor& self, const Tensor& other);
Tensor xlogy(const Tensor& self, Scalar other);
Tensor xlogy(Scalar self, const Tensor& other);
/// sqrt(self^2 + other^2), without overflow or underflow of the squares; infinity if either is
/// infinite. Throws std::invalid_argument for two integer tensors.
Tensor hypot(const Tensor& self, const Tensor& other);
/// 0 where self < 0 or NaN, `values` where it is 0, and 1 where it is positive. Both have one
/// dtype.
Tensor heaviside(const Tensor& self, const Tensor& values);
/// The larger and the smaller element; the other operand's where one is NaN. If both are equal, the
/// gradient goes to self.
Tensor fmax(const Tensor& self, const Tensor& other);
Tensor fmin(const Tensor& self, const Tensor& other);
/// True where the sign bit is set, also for -0 and NaN. No gradient.
Tensor signbit(const Tensor& self);
/// |self| with the sign of `other`, also of -0 and NaN. The gradient is 0 where self is 0.
Tensor copysign(const Tensor& self, const Tensor& other);
Tensor copysign(const Tensor& self, Scalar other);

/// The power in float64; the result is float64.
Tensor float_power(const Tensor& self, const Tensor& exponent);
Tensor float_power(const Tensor& self, Scalar exponent);
Tensor float_power(Scalar self, const Tensor& exponent);

}  // namespace halfgrad
