#include <halfgrad/autograd/composed/bits.h>
#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/graph/op_name.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

using detail::wrap;

// Rounds a scalar to the dtype of the floating-point tensor that it is compared with.
Tensor comparable(Scalar scalar, const Tensor& with) {
  const Tensor operand = wrap(scalar, with.device());
  return with.is_floating_point() ? to(operand, with.dtype()) : operand;
}

// Returns a scalar as the second operand of where(). Throws if the result's dtype cannot hold it.
Tensor where_operand(const Tensor& tensor, Scalar scalar) {
  const Tensor both[] = {tensor, wrap(scalar, tensor.device())};
  detail::expect_held(scalar, detail::result_type(both));
  return both[1];
}

}  // namespace

Tensor add(const Tensor& self, Scalar other, Scalar alpha) {
  return add(self, wrap(other, self.device()), alpha);
}
Tensor sub(const Tensor& self, Scalar other, Scalar alpha) {
  return sub(self, wrap(other, self.device()), alpha);
}
Tensor mul(const Tensor& self, Scalar other) { return mul(self, wrap(other, self.device())); }
Tensor div(const Tensor& self, Scalar other) { return div(self, wrap(other, self.device())); }
Tensor div(const Tensor& self, Scalar other, std::optional<std::string_view> rounding_mode) {
  return div(self, wrap(other, self.device()), rounding_mode);
}
Tensor floor_divide(const Tensor& self, Scalar other) {
  return floor_divide(self, wrap(other, self.device()));
}
Tensor remainder(const Tensor& self, Scalar other) {
  return remainder(self, wrap(other, self.device()));
}
Tensor remainder(Scalar self, const Tensor& other) {
  return remainder(wrap(self, other.device()), other);
}
Tensor fmod(const Tensor& self, Scalar other) { return fmod(self, wrap(other, self.device())); }
Tensor eq(const Tensor& self, Scalar other) { return eq(self, comparable(other, self)); }
Tensor ne(const Tensor& self, Scalar other) { return ne(self, comparable(other, self)); }
Tensor lt(const Tensor& self, Scalar other) { return lt(self, comparable(other, self)); }
Tensor le(const Tensor& self, Scalar other) { return le(self, comparable(other, self)); }
Tensor gt(const Tensor& self, Scalar other) { return gt(self, comparable(other, self)); }
Tensor ge(const Tensor& self, Scalar other) { return ge(self, comparable(other, self)); }
Tensor where(const Tensor& condition, const Tensor& self, Scalar other) {
  return where(condition, self, where_operand(self, other));
}
Tensor where(const Tensor& condition, Scalar self, const Tensor& other) {
  return where(condition, where_operand(other, self), other);
}
Tensor max(const Tensor& self, const Tensor& other) { return maximum(self, other); }
Tensor min(const Tensor& self, const Tensor& other) { return minimum(self, other); }

Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
Tensor operator%(const Tensor& a, const Tensor& b) { return remainder(a, b); }
Tensor operator-(const Tensor& a) { return neg(a); }
Tensor operator+(const Tensor& a, Scalar b) { return add(a, b); }
Tensor operator-(const Tensor& a, Scalar b) { return sub(a, b); }
Tensor operator*(const Tensor& a, Scalar b) { return mul(a, b); }
Tensor operator/(const Tensor& a, Scalar b) { return div(a, b); }
Tensor operator%(const Tensor& a, Scalar b) { return remainder(a, b); }
Tensor operator+(Scalar a, const Tensor& b) { return add(wrap(a, b.device()), b); }
Tensor operator-(Scalar a, const Tensor& b) { return sub(wrap(a, b.device()), b); }
Tensor operator*(Scalar a, const Tensor& b) { return mul(wrap(a, b.device()), b); }
Tensor operator%(Scalar a, const Tensor& b) { return remainder(a, b); }

Tensor operator==(const Tensor& a, const Tensor& b) { return eq(a, b); }
Tensor operator!=(const Tensor& a, const Tensor& b) { return ne(a, b); }
Tensor operator<(const Tensor& a, const Tensor& b) { return lt(a, b); }
Tensor operator<=(const Tensor& a, const Tensor& b) { return le(a, b); }
Tensor operator>(const Tensor& a, const Tensor& b) { return gt(a, b); }
Tensor operator>=(const Tensor& a, const Tensor& b) { return ge(a, b); }
Tensor operator==(const Tensor& a, Scalar b) { return eq(a, b); }
Tensor operator!=(const Tensor& a, Scalar b) { return ne(a, b); }
Tensor operator<(const Tensor& a, Scalar b) { return lt(a, b); }
Tensor operator<=(const Tensor& a, Scalar b) { return le(a, b); }
Tensor operator>(const Tensor& a, Scalar b) { return gt(a, b); }
Tensor operator>=(const Tensor& a, Scalar b) { return ge(a, b); }

Tensor operator==(Scalar a, const Tensor& b) { return eq(b, a); }
Tensor operator!=(Scalar a, const Tensor& b) { return ne(b, a); }
Tensor operator<(Scalar a, const Tensor& b) { return gt(b, a); }
Tensor operator<=(Scalar a, const Tensor& b) { return ge(b, a); }
Tensor operator>(Scalar a, const Tensor& b) { return lt(b, a); }
Tensor operator>=(Scalar a, const Tensor& b) { return le(b, a); }

Tensor operator~(const Tensor& a) {
  return detail::with_op_name("operator~", "bitwise_not", [&] { return bitwise_not(a); });
}
Tensor operator&(const Tensor& a, const Tensor& b) {
  return detail::with_op_name("operator&", "bitwise_and", [&] { return bitwise_and(a, b); });
}
Tensor operator&(const Tensor& a, Scalar b) {
  return detail::with_op_name("operator&", "bitwise_and", [&] { return bitwise_and(a, b); });
}
Tensor operator&(Scalar a, const Tensor& b) {
  return detail::with_op_name("operator&", "bitwise_and", [&] { return bitwise_and(a, b); });
}
Tensor operator|(const Tensor& a, const Tensor& b) {
  return detail::with_op_name("operator|", "bitwise_or", [&] { return bitwise_or(a, b); });
}
Tensor operator|(const Tensor& a, Scalar b) {
  return detail::with_op_name("operator|", "bitwise_or", [&] { return bitwise_or(a, b); });
}
Tensor operator|(Scalar a, const Tensor& b) {
  return detail::with_op_name("operator|", "bitwise_or", [&] { return bitwise_or(a, b); });
}
Tensor operator^(const Tensor& a, const Tensor& b) {
  return detail::with_op_name("operator^", "bitwise_xor", [&] { return bitwise_xor(a, b); });
}
Tensor operator^(const Tensor& a, Scalar b) {
  return detail::with_op_name("operator^", "bitwise_xor", [&] { return bitwise_xor(a, b); });
}
Tensor operator^(Scalar a, const Tensor& b) {
  return detail::with_op_name("operator^", "bitwise_xor", [&] { return bitwise_xor(a, b); });
}

}  // namespace halfgrad
