#include <halfgrad/autograd/op.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace {

using detail::wrap;

// A floating-point tensor is compared with the nearest number of its dtype.
Tensor comparable(Scalar scalar, const Tensor& with) {
  const Tensor number = wrap(scalar, with.device());
  return with.is_floating_point() ? to(number, with.dtype()) : number;
}

}  // namespace

Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
Tensor operator-(const Tensor& a) { return neg(a); }
Tensor operator+(const Tensor& a, Scalar b) { return add(a, wrap(b, a.device())); }
Tensor operator-(const Tensor& a, Scalar b) { return sub(a, wrap(b, a.device())); }
Tensor operator*(const Tensor& a, Scalar b) { return mul(a, wrap(b, a.device())); }
Tensor operator/(const Tensor& a, Scalar b) { return div(a, wrap(b, a.device())); }
Tensor operator+(Scalar a, const Tensor& b) { return add(wrap(a, b.device()), b); }
Tensor operator-(Scalar a, const Tensor& b) { return sub(wrap(a, b.device()), b); }
Tensor operator*(Scalar a, const Tensor& b) { return mul(wrap(a, b.device()), b); }

Tensor operator==(const Tensor& a, const Tensor& b) { return eq(a, b); }
Tensor operator!=(const Tensor& a, const Tensor& b) { return ne(a, b); }
Tensor operator<(const Tensor& a, const Tensor& b) { return lt(a, b); }
Tensor operator<=(const Tensor& a, const Tensor& b) { return le(a, b); }
Tensor operator>(const Tensor& a, const Tensor& b) { return gt(a, b); }
Tensor operator>=(const Tensor& a, const Tensor& b) { return ge(a, b); }
Tensor operator==(const Tensor& a, Scalar b) { return eq(a, comparable(b, a)); }
Tensor operator!=(const Tensor& a, Scalar b) { return ne(a, comparable(b, a)); }
Tensor operator<(const Tensor& a, Scalar b) { return lt(a, comparable(b, a)); }
Tensor operator<=(const Tensor& a, Scalar b) { return le(a, comparable(b, a)); }
Tensor operator>(const Tensor& a, Scalar b) { return gt(a, comparable(b, a)); }
Tensor operator>=(const Tensor& a, Scalar b) { return ge(a, comparable(b, a)); }

}  // namespace halfgrad
