#pragma once

#include <halfgrad/compat/names.h>

#include <cstdint>
#include <iostream>
#include <optional>
#include <tuple>
#include <vector>

#include <halfgrad/autograd/composed.h>
#include <halfgrad/autograd/indexing.h>
#include <halfgrad/autograd/ops.h>

/// Functions that libtorch has under two names, under the name that ops.h does not use; and
/// torch::special.
namespace halfgrad {

// --- Arithmetic ---
inline Tensor absolute(const Tensor& self) { return abs(self); }
inline Tensor negative(const Tensor& self) { return neg(self); }
inline Tensor fix(const Tensor& self) { return trunc(self); }
inline Tensor sgn(const Tensor& self) { return sign(self); }
template <class Other>
Tensor subtract(const Tensor& self, const Other& other, Scalar alpha = 1) {
  return sub(self, other, alpha);
}
/// other - alpha * self
template <class Other>
Tensor rsub(const Tensor& self, const Other& other, Scalar alpha = 1) {
  return other - self * alpha;
}
template <class Other>
Tensor multiply(const Tensor& self, const Other& other) {
  return mul(self, other);
}
template <class Other>
Tensor divide(const Tensor& self, const Other& other) {
  return div(self, other);
}
template <class Other>
Tensor true_divide(const Tensor& self, const Other& other) {
  return div(self, other);
}
inline Tensor clip(const Tensor& self, std::optional<Scalar> min,
                   std::optional<Scalar> max = std::nullopt) {
  return clamp(self, min, max);
}
inline Tensor clip(const Tensor& self, const Tensor& min, const Tensor& max = {}) {
  return clamp(self, min, max);
}

// --- Comparisons ---
template <class Other>
Tensor greater(const Tensor& self, const Other& other) {
  return gt(self, other);
}
template <class Other>
Tensor greater_equal(const Tensor& self, const Other& other) {
  return ge(self, other);
}
template <class Other>
Tensor less(const Tensor& self, const Other& other) {
  return lt(self, other);
}
template <class Other>
Tensor less_equal(const Tensor& self, const Other& other) {
  return le(self, other);
}
template <class Other>
Tensor not_equal(const Tensor& self, const Other& other) {
  return ne(self, other);
}

/// Scalars as both results: of the default dtype if one is floating point, else int64.
Tensor where(const Tensor& condition, Scalar self, Scalar other);
inline bool is_floating_point(const Tensor& self) { return self.is_floating_point(); }

// --- Joining, sorting, writing ---
inline Tensor concat(const std::vector<Tensor>& tensors, std::int64_t dim = 0) {
  return cat(tensors, dim);
}
inline Tensor concatenate(const std::vector<Tensor>& tensors, std::int64_t dim = 0) {
  return cat(tensors, dim);
}
/// Sorts along dimension 0.
inline Tensor msort(const Tensor& self) { return std::get<0>(sort(self, 0)); }

// --- In place: libtorch's functions, which are methods here ---
inline Tensor relu_(const Tensor& self) { return self.relu_(); }
inline Tensor sigmoid_(const Tensor& self) { return self.sigmoid_(); }
inline Tensor tanh_(const Tensor& self) { return self.tanh_(); }
inline Tensor exp_(const Tensor& self) { return self.exp_(); }
inline Tensor clamp_(const Tensor& self, std::optional<Scalar> min,
                     std::optional<Scalar> max = std::nullopt) {
  return self.clamp_(min, max);
}
inline Tensor abs_(const Tensor& self) { return self.abs_(); }
inline Tensor neg_(const Tensor& self) { return self.neg_(); }
inline Tensor log_(const Tensor& self) { return self.log_(); }
inline Tensor sqrt_(const Tensor& self) { return self.sqrt_(); }
inline Tensor square_(const Tensor& self) { return self.square_(); }
inline Tensor round_(const Tensor& self) { return self.round_(); }
inline Tensor floor_(const Tensor& self) { return self.floor_(); }
inline Tensor ceil_(const Tensor& self) { return self.ceil_(); }
// Activations that are no methods.
Tensor leaky_relu_(const Tensor& self, Scalar negative_slope = 0.01);
Tensor elu_(const Tensor& self, Scalar alpha = 1);
Tensor selu_(const Tensor& self);
Tensor celu_(const Tensor& self, double alpha = 1);
Tensor silu_(const Tensor& self);
Tensor hardtanh_(const Tensor& self, double min_val = -1, double max_val = 1);
Tensor threshold_(const Tensor& self, double threshold, double value);
Tensor dropout_(const Tensor& self, double p, bool train);
inline Tensor zero_(const Tensor& self) { return self.zero_(); }
inline Tensor fill_(const Tensor& self, Scalar value) { return self.fill_(value); }

inline Tensor t(const Tensor& self) { return self.t(); }
inline Tensor detach(const Tensor& self) { return self.detach(); }
inline Tensor isposinf(const Tensor& self) { return self.isposinf(); }
inline Tensor isneginf(const Tensor& self) { return self.isneginf(); }
/// Prints the tensor, on std::cout if no stream is given. libtorch breaks lines at `line_size`
/// characters; it changes nothing here.
inline void print(const Tensor& self) { self.print(); }
inline void print(std::ostream& out, const Tensor& self, std::int64_t /*line_size*/ = 80) {
  out << self;
}

namespace special {

inline Tensor expit(const Tensor& self) { return sigmoid(self); }
inline Tensor gammaln(const Tensor& self) { return lgamma(self); }
inline Tensor psi(const Tensor& self) { return digamma(self); }
/// The probability that a normal variable is at most x: erfc(-x / sqrt(2)) / 2.
Tensor ndtr(const Tensor& self);
using halfgrad::digamma;
using halfgrad::erf;
using halfgrad::erfc;
using halfgrad::erfinv;
using halfgrad::exp2;
using halfgrad::expm1;
using halfgrad::log1p;
using halfgrad::log_softmax;
using halfgrad::logit;
using halfgrad::logsumexp;
using halfgrad::polygamma;
using halfgrad::sinc;
using halfgrad::softmax;
using halfgrad::xlogy;

}  // namespace special
}  // namespace halfgrad
