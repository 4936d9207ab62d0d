#include <halfgrad/autograd/composed.h>
#include <halfgrad/autograd/graph/in_place.h>
#include <halfgrad/autograd/ops.h>

/// The methods of special.h, bits.h, scatter_reduce() and cov().
namespace halfgrad::detail {

Tensor ComposedMethods::erfc() const { return halfgrad::erfc(self()); }
Tensor& ComposedMethods::erfc_() const {
  return run_in_place(self(), "erfc_",
                      [&] { return halfgrad::erfc(operand_for_backward(self())); });
}
Tensor ComposedMethods::erfinv() const { return halfgrad::erfinv(self()); }
Tensor& ComposedMethods::erfinv_() const {
  return run_in_place(self(), "erfinv_",
                      [&] { return halfgrad::erfinv(operand_for_backward(self())); });
}
Tensor ComposedMethods::lgamma() const { return halfgrad::lgamma(self()); }
Tensor& ComposedMethods::lgamma_() const {
  return run_in_place(self(), "lgamma_",
                      [&] { return halfgrad::lgamma(operand_for_backward(self())); });
}
Tensor ComposedMethods::digamma() const { return halfgrad::digamma(self()); }
Tensor& ComposedMethods::digamma_() const {
  return run_in_place(self(), "digamma_",
                      [&] { return halfgrad::digamma(operand_for_backward(self())); });
}
Tensor ComposedMethods::polygamma(std::int64_t n) const { return halfgrad::polygamma(n, self()); }
Tensor& ComposedMethods::polygamma_(std::int64_t n) const {
  return run_in_place(self(), "polygamma_",
                      [&] { return halfgrad::polygamma(n, operand_for_backward(self())); });
}

Tensor ComposedMethods::bitwise_and(const Tensor& other) const {
  return halfgrad::bitwise_and(self(), other);
}
Tensor& ComposedMethods::bitwise_and_(const Tensor& other) const {
  return run_in_place(self(), "bitwise_and_", [&] { return halfgrad::bitwise_and(self(), other); });
}
Tensor ComposedMethods::bitwise_and(Scalar other) const {
  return halfgrad::bitwise_and(self(), other);
}
Tensor& ComposedMethods::bitwise_and_(Scalar other) const {
  return run_in_place(self(), "bitwise_and_", [&] { return halfgrad::bitwise_and(self(), other); });
}
Tensor ComposedMethods::bitwise_or(const Tensor& other) const {
  return halfgrad::bitwise_or(self(), other);
}
Tensor& ComposedMethods::bitwise_or_(const Tensor& other) const {
  return run_in_place(self(), "bitwise_or_", [&] { return halfgrad::bitwise_or(self(), other); });
}
Tensor ComposedMethods::bitwise_or(Scalar other) const {
  return halfgrad::bitwise_or(self(), other);
}
Tensor& ComposedMethods::bitwise_or_(Scalar other) const {
  return run_in_place(self(), "bitwise_or_", [&] { return halfgrad::bitwise_or(self(), other); });
}
Tensor ComposedMethods::bitwise_xor(const Tensor& other) const {
  return halfgrad::bitwise_xor(self(), other);
}
Tensor& ComposedMethods::bitwise_xor_(const Tensor& other) const {
  return run_in_place(self(), "bitwise_xor_", [&] { return halfgrad::bitwise_xor(self(), other); });
}
Tensor ComposedMethods::bitwise_xor(Scalar other) const {
  return halfgrad::bitwise_xor(self(), other);
}
Tensor& ComposedMethods::bitwise_xor_(Scalar other) const {
  return run_in_place(self(), "bitwise_xor_", [&] { return halfgrad::bitwise_xor(self(), other); });
}
Tensor ComposedMethods::bitwise_left_shift(const Tensor& other) const {
  return halfgrad::bitwise_left_shift(self(), other);
}
Tensor& ComposedMethods::bitwise_left_shift_(const Tensor& other) const {
  return run_in_place(self(), "bitwise_left_shift_",
                      [&] { return halfgrad::bitwise_left_shift(self(), other); });
}
Tensor ComposedMethods::bitwise_left_shift(Scalar other) const {
  return halfgrad::bitwise_left_shift(self(), other);
}
Tensor& ComposedMethods::bitwise_left_shift_(Scalar other) const {
  return run_in_place(self(), "bitwise_left_shift_",
                      [&] { return halfgrad::bitwise_left_shift(self(), other); });
}
Tensor ComposedMethods::bitwise_right_shift(const Tensor& other) const {
  return halfgrad::bitwise_right_shift(self(), other);
}
Tensor& ComposedMethods::bitwise_right_shift_(const Tensor& other) const {
  return run_in_place(self(), "bitwise_right_shift_",
                      [&] { return halfgrad::bitwise_right_shift(self(), other); });
}
Tensor ComposedMethods::bitwise_right_shift(Scalar other) const {
  return halfgrad::bitwise_right_shift(self(), other);
}
Tensor& ComposedMethods::bitwise_right_shift_(Scalar other) const {
  return run_in_place(self(), "bitwise_right_shift_",
                      [&] { return halfgrad::bitwise_right_shift(self(), other); });
}
Tensor ComposedMethods::bitwise_not() const { return halfgrad::bitwise_not(self()); }
Tensor& ComposedMethods::bitwise_not_() const {
  return run_in_place(self(), "bitwise_not_", [&] { return halfgrad::bitwise_not(self()); });
}

Tensor ComposedMethods::cov(std::int64_t correction) const {
  return halfgrad::cov(self(), correction);
}
Tensor ComposedMethods::cov(std::int64_t correction, const Tensor& fweights,
                            const Tensor& aweights) const {
  return halfgrad::cov(self(), correction, fweights, aweights);
}
Tensor ComposedMethods::corrcoef() const { return halfgrad::corrcoef(self()); }

Tensor ComposedMethods::scatter(std::int64_t dim, const Tensor& index, const Tensor& src,
                                std::string_view reduce) const {
  return halfgrad::scatter(self(), dim, index, src, reduce);
}
Tensor ComposedMethods::scatter(std::int64_t dim, const Tensor& index, Scalar value,
                                std::string_view reduce) const {
  return halfgrad::scatter(self(), dim, index, value, reduce);
}
Tensor& ComposedMethods::scatter_(std::int64_t dim, const Tensor& index, const Tensor& src,
                                  std::string_view reduce) const {
  return run_in_place(self(), "scatter_",
                      [&] { return halfgrad::scatter(self(), dim, index, src, reduce); });
}
Tensor& ComposedMethods::scatter_(std::int64_t dim, const Tensor& index, Scalar value,
                                  std::string_view reduce) const {
  return run_in_place(self(), "scatter_",
                      [&] { return halfgrad::scatter(self(), dim, index, value, reduce); });
}
Tensor ComposedMethods::scatter_reduce(std::int64_t dim, const Tensor& index, const Tensor& src,
                                       std::string_view reduce, bool include_self) const {
  return halfgrad::scatter_reduce(self(), dim, index, src, reduce, include_self);
}
Tensor& ComposedMethods::scatter_reduce_(std::int64_t dim, const Tensor& index, const Tensor& src,
                                         std::string_view reduce, bool include_self) const {
  return run_in_place(self(), "scatter_reduce_", [&] {
    return halfgrad::scatter_reduce(operand_for_backward(self(), src.requires_grad()), dim, index,
                                    src, reduce, include_self);
  });
}

}  // namespace halfgrad::detail
