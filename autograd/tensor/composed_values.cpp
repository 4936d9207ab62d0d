#include <halfgrad/autograd/composed.h>
#include <halfgrad/autograd/graph/in_place.h>
#include <halfgrad/autograd/tensor/composed_methods.h>

// The methods of products.h, counting.h, pointwise.h and inverse.h, which compute new values.
namespace halfgrad::detail {

Tensor ComposedMethods::addmv(const Tensor& mat, const Tensor& vec, Scalar beta,
                              Scalar alpha) const {
  return halfgrad::addmv(self(), mat, vec, beta, alpha);
}
Tensor ComposedMethods::addr(const Tensor& vec1, const Tensor& vec2, Scalar beta,
                             Scalar alpha) const {
  return halfgrad::addr(self(), vec1, vec2, beta, alpha);
}
Tensor ComposedMethods::ger(const Tensor& vec2) const { return halfgrad::ger(self(), vec2); }
Tensor ComposedMethods::inner(const Tensor& other) const { return halfgrad::inner(self(), other); }
Tensor ComposedMethods::kron(const Tensor& other) const { return halfgrad::kron(self(), other); }
Tensor ComposedMethods::matrix_power(std::int64_t n) const {
  return halfgrad::matrix_power(self(), n);
}
Tensor ComposedMethods::argwhere() const { return halfgrad::argwhere(self()); }
Tensor ComposedMethods::bincount(const Tensor& weights, std::int64_t minlength) const {
  return halfgrad::bincount(self(), weights, minlength);
}
Tensor ComposedMethods::bincount() const { return halfgrad::bincount(self()); }
Tensor ComposedMethods::histc(std::int64_t bins, Scalar min, Scalar max) const {
  return halfgrad::histc(self(), bins, min, max);
}
Tensor ComposedMethods::frac() const { return halfgrad::frac(self()); }
Tensor ComposedMethods::nan_to_num(std::optional<double> nan, std::optional<double> posinf,
                                   std::optional<double> neginf) const {
  return halfgrad::nan_to_num(self(), nan, posinf, neginf);
}
Tensor& ComposedMethods::nan_to_num_(std::optional<double> nan, std::optional<double> posinf,
                                     std::optional<double> neginf) const {
  return run_in_place(self(), "nan_to_num_",
                      [&] { return halfgrad::nan_to_num(self(), nan, posinf, neginf); });
}
Tensor ComposedMethods::positive() const { return halfgrad::positive(self()); }
Tensor ComposedMethods::deg2rad() const { return halfgrad::deg2rad(self()); }
Tensor ComposedMethods::rad2deg() const { return halfgrad::rad2deg(self()); }
Tensor ComposedMethods::vdot(const Tensor& other) const { return halfgrad::vdot(self(), other); }
Tensor ComposedMethods::addbmm(const Tensor& batch1, const Tensor& batch2, Scalar beta,
                               Scalar alpha) const {
  return halfgrad::addbmm(self(), batch1, batch2, beta, alpha);
}
Tensor ComposedMethods::asin() const { return halfgrad::asin(self()); }
Tensor ComposedMethods::acos() const { return halfgrad::acos(self()); }
Tensor ComposedMethods::atan() const { return halfgrad::atan(self()); }
Tensor ComposedMethods::atan2(const Tensor& other) const { return halfgrad::atan2(self(), other); }
Tensor ComposedMethods::asinh() const { return halfgrad::asinh(self()); }
Tensor ComposedMethods::acosh() const { return halfgrad::acosh(self()); }
Tensor ComposedMethods::atanh() const { return halfgrad::atanh(self()); }
Tensor ComposedMethods::sinh() const { return halfgrad::sinh(self()); }
Tensor ComposedMethods::cosh() const { return halfgrad::cosh(self()); }
Tensor ComposedMethods::sinc() const { return halfgrad::sinc(self()); }
Tensor ComposedMethods::logit(std::optional<double> eps) const {
  return halfgrad::logit(self(), eps);
}
Tensor ComposedMethods::logaddexp(const Tensor& other) const {
  return halfgrad::logaddexp(self(), other);
}
Tensor ComposedMethods::xlogy(const Tensor& other) const { return halfgrad::xlogy(self(), other); }
Tensor ComposedMethods::xlogy(Scalar other) const { return halfgrad::xlogy(self(), other); }
Tensor ComposedMethods::hypot(const Tensor& other) const { return halfgrad::hypot(self(), other); }
Tensor ComposedMethods::heaviside(const Tensor& values) const {
  return halfgrad::heaviside(self(), values);
}
Tensor ComposedMethods::fmax(const Tensor& other) const { return halfgrad::fmax(self(), other); }
Tensor ComposedMethods::fmin(const Tensor& other) const { return halfgrad::fmin(self(), other); }
Tensor ComposedMethods::signbit() const { return halfgrad::signbit(self()); }
Tensor ComposedMethods::copysign(const Tensor& other) const {
  return halfgrad::copysign(self(), other);
}
Tensor ComposedMethods::copysign(Scalar other) const { return halfgrad::copysign(self(), other); }
Tensor ComposedMethods::float_power(const Tensor& exponent) const {
  return halfgrad::float_power(self(), exponent);
}
Tensor ComposedMethods::float_power(Scalar exponent) const {
  return halfgrad::float_power(self(), exponent);
}

}  // namespace halfgrad::detail
