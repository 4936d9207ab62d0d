#pragma once

#include <limits>
#include <string>

#include <halfgrad/core/numbers/scalar.h>

/// The ops of one tensor: as functions, and those that libtorch's Tensor has also as methods,
/// `x.exp()`, and in place, `x.exp_()`. All three forms of an op are defined in its file in ops/.
namespace halfgrad {

class Tensor;

// --- Functions of one element ---
// Several files define related ops: exp.cpp, log.cpp, roots.cpp (sqrt to square), trigonometric.cpp
// (sin to tan), rounding.cpp (floor to sign).
Tensor neg(const Tensor& self);
Tensor abs(const Tensor& self);
Tensor exp(const Tensor& self);
Tensor exp2(const Tensor& self);
Tensor expm1(const Tensor& self);
Tensor log(const Tensor& self);
Tensor log2(const Tensor& self);
Tensor log10(const Tensor& self);
Tensor log1p(const Tensor& self);
Tensor sqrt(const Tensor& self);
Tensor rsqrt(const Tensor& self);
Tensor reciprocal(const Tensor& self);
Tensor square(const Tensor& self);
Tensor sin(const Tensor& self);
Tensor cos(const Tensor& self);
Tensor tan(const Tensor& self);
Tensor tanh(const Tensor& self);
Tensor erf(const Tensor& self);
// floor, ceil, round and trunc return integer tensors unchanged. Their gradient is 0, as is sign's.
Tensor floor(const Tensor& self);
Tensor ceil(const Tensor& self);
/// Rounds halves to the even neighbour.
Tensor round(const Tensor& self);
Tensor trunc(const Tensor& self);
/// -1, 0 or 1; 0 for NaN.
Tensor sign(const Tensor& self);

// --- Activations ---
Tensor sigmoid(const Tensor& self);
Tensor relu(const Tensor& self);
Tensor leaky_relu(const Tensor& self, Scalar negative_slope = 0.01);
Tensor elu(const Tensor& self, Scalar alpha = 1.0);
/// `approximate` is "none" (x Phi(x), exact) or "tanh".
Tensor gelu(const Tensor& self, const std::string& approximate = "none");
Tensor silu(const Tensor& self);
/// log(1 + exp(beta x)) / beta, or x where beta x > threshold. PyTorch's default threshold of 20
/// would cost float64 half of its significant digits.
Tensor softplus(const Tensor& self, Scalar beta = 1.0,
                Scalar threshold = std::numeric_limits<double>::infinity());
/// x - lambd for x > lambd, x + lambd for x < -lambd, else 0. Throws std::invalid_argument unless
/// lambd >= 0.
Tensor softshrink(const Tensor& self, Scalar lambd = 0.5);

namespace detail {

/// The ops above as methods of Tensor. In-place forms are const, as in libtorch, because a Tensor
/// is a handle.
class UnaryMethods {
 public:
  Tensor neg() const;
  Tensor abs() const;
  Tensor exp() const;
  Tensor exp2() const;
  Tensor expm1() const;
  Tensor log() const;
  Tensor log2() const;
  Tensor log10() const;
  Tensor log1p() const;
  Tensor sqrt() const;
  Tensor rsqrt() const;
  Tensor reciprocal() const;
  Tensor square() const;
  Tensor sin() const;
  Tensor cos() const;
  Tensor tan() const;
  Tensor tanh() const;
  Tensor erf() const;
  Tensor floor() const;
  Tensor ceil() const;
  Tensor round() const;
  Tensor trunc() const;
  Tensor sign() const;
  Tensor sigmoid() const;
  Tensor relu() const;

  Tensor& neg_() const;
  Tensor& abs_() const;
  Tensor& exp_() const;
  Tensor& exp2_() const;
  Tensor& expm1_() const;
  Tensor& log_() const;
  Tensor& log2_() const;
  Tensor& log10_() const;
  Tensor& log1p_() const;
  Tensor& sqrt_() const;
  Tensor& rsqrt_() const;
  Tensor& reciprocal_() const;
  Tensor& square_() const;
  Tensor& sin_() const;
  Tensor& cos_() const;
  Tensor& tan_() const;
  Tensor& tanh_() const;
  Tensor& erf_() const;
  Tensor& floor_() const;
  Tensor& ceil_() const;
  Tensor& round_() const;
  Tensor& trunc_() const;
  Tensor& sign_() const;
  Tensor& sigmoid_() const;
  Tensor& relu_() const;

 protected:
  UnaryMethods() = default;
  const Tensor& self() const;
};

}  // namespace detail
}  // namespace halfgrad
