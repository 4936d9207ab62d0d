#include <halfgrad/compat/names.h>

#include <halfgrad/autograd/composed.h>
#include <halfgrad/autograd/graph/in_place.h>
#include <halfgrad/autograd/indexing.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/tensor/libtorch_methods.h>
#include <halfgrad/compat/linalg.h>
#include <halfgrad/compat/utilities.h>

namespace halfgrad::detail {

Tensor LibtorchMethods::absolute() const { return self().abs(); }
Tensor LibtorchMethods::negative() const { return self().neg(); }
Tensor LibtorchMethods::fix() const { return self().trunc(); }
Tensor LibtorchMethods::alias() const { return self().view(self().sizes()); }
Tensor LibtorchMethods::sgn() const { return self().sign(); }
Tensor& LibtorchMethods::absolute_() const { return self().abs_(); }
Tensor& LibtorchMethods::negative_() const { return self().neg_(); }
Tensor& LibtorchMethods::fix_() const { return self().trunc_(); }
Tensor& LibtorchMethods::sgn_() const { return self().sign_(); }
Tensor LibtorchMethods::subtract(const Tensor& other, Scalar alpha) const {
  return self().sub(other, alpha);
}
Tensor LibtorchMethods::subtract(Scalar other, Scalar alpha) const {
  return self().sub(other, alpha);
}
Tensor LibtorchMethods::multiply(const Tensor& other) const { return self().mul(other); }
Tensor LibtorchMethods::multiply(Scalar other) const { return self().mul(other); }
Tensor LibtorchMethods::divide(const Tensor& other) const { return self().div(other); }
Tensor LibtorchMethods::divide(Scalar other) const { return self().div(other); }
Tensor LibtorchMethods::true_divide(const Tensor& other) const { return self().div(other); }
Tensor LibtorchMethods::true_divide(Scalar other) const { return self().div(other); }
Tensor LibtorchMethods::greater(const Tensor& other) const { return self().gt(other); }
Tensor LibtorchMethods::greater(Scalar other) const { return self().gt(other); }
Tensor LibtorchMethods::greater_equal(const Tensor& other) const { return self().ge(other); }
Tensor LibtorchMethods::greater_equal(Scalar other) const { return self().ge(other); }
Tensor LibtorchMethods::less(const Tensor& other) const { return self().lt(other); }
Tensor LibtorchMethods::less(Scalar other) const { return self().lt(other); }
Tensor LibtorchMethods::less_equal(const Tensor& other) const { return self().le(other); }
Tensor LibtorchMethods::less_equal(Scalar other) const { return self().le(other); }
Tensor LibtorchMethods::not_equal(const Tensor& other) const { return self().ne(other); }
Tensor LibtorchMethods::not_equal(Scalar other) const { return self().ne(other); }
Tensor& LibtorchMethods::subtract_(const Tensor& other, Scalar alpha) const {
  return self().sub_(other, alpha);
}
Tensor& LibtorchMethods::subtract_(Scalar other, Scalar alpha) const {
  return self().sub_(other, alpha);
}
Tensor& LibtorchMethods::multiply_(const Tensor& other) const { return self().mul_(other); }
Tensor& LibtorchMethods::multiply_(Scalar other) const { return self().mul_(other); }
Tensor& LibtorchMethods::divide_(const Tensor& other) const { return self().div_(other); }
Tensor& LibtorchMethods::divide_(Scalar other) const { return self().div_(other); }
Tensor& LibtorchMethods::eq_(const Tensor& other) const {
  return run_in_place(self(), "eq_", [&] { return self().eq(other); });
}
Tensor& LibtorchMethods::eq_(Scalar other) const {
  return run_in_place(self(), "eq_", [&] { return self().eq(other); });
}
Tensor& LibtorchMethods::ne_(const Tensor& other) const {
  return run_in_place(self(), "ne_", [&] { return self().ne(other); });
}
Tensor& LibtorchMethods::ne_(Scalar other) const {
  return run_in_place(self(), "ne_", [&] { return self().ne(other); });
}
Tensor& LibtorchMethods::lt_(const Tensor& other) const {
  return run_in_place(self(), "lt_", [&] { return self().lt(other); });
}
Tensor& LibtorchMethods::lt_(Scalar other) const {
  return run_in_place(self(), "lt_", [&] { return self().lt(other); });
}
Tensor& LibtorchMethods::le_(const Tensor& other) const {
  return run_in_place(self(), "le_", [&] { return self().le(other); });
}
Tensor& LibtorchMethods::le_(Scalar other) const {
  return run_in_place(self(), "le_", [&] { return self().le(other); });
}
Tensor& LibtorchMethods::gt_(const Tensor& other) const {
  return run_in_place(self(), "gt_", [&] { return self().gt(other); });
}
Tensor& LibtorchMethods::gt_(Scalar other) const {
  return run_in_place(self(), "gt_", [&] { return self().gt(other); });
}
Tensor& LibtorchMethods::ge_(const Tensor& other) const {
  return run_in_place(self(), "ge_", [&] { return self().ge(other); });
}
Tensor& LibtorchMethods::ge_(Scalar other) const {
  return run_in_place(self(), "ge_", [&] { return self().ge(other); });
}
Tensor& LibtorchMethods::logical_and_(const Tensor& other) const {
  return run_in_place(self(), "logical_and_", [&] { return self().logical_and(other); });
}
Tensor& LibtorchMethods::logical_or_(const Tensor& other) const {
  return run_in_place(self(), "logical_or_", [&] { return self().logical_or(other); });
}
Tensor& LibtorchMethods::logical_xor_(const Tensor& other) const {
  return run_in_place(self(), "logical_xor_", [&] { return self().logical_xor(other); });
}
Tensor& LibtorchMethods::logical_not_() const {
  return run_in_place(self(), "logical_not_", [&] { return self().logical_not(); });
}
Tensor& LibtorchMethods::cumsum_(std::int64_t dim) const {
  return run_in_place(self(), "cumsum_", [&] { return self().cumsum(dim, self().dtype()); });
}
Tensor& LibtorchMethods::cumprod_(std::int64_t dim) const {
  return run_in_place(self(), "cumprod_",
                      [&] { return operand_for_backward(self()).cumprod(dim, self().dtype()); });
}
Tensor& LibtorchMethods::asin_() const {
  return run_in_place(self(), "asin_", [&] { return operand_for_backward(self()).asin(); });
}
Tensor& LibtorchMethods::acos_() const {
  return run_in_place(self(), "acos_", [&] { return operand_for_backward(self()).acos(); });
}
Tensor& LibtorchMethods::atan_() const {
  return run_in_place(self(), "atan_", [&] { return operand_for_backward(self()).atan(); });
}
Tensor& LibtorchMethods::asinh_() const {
  return run_in_place(self(), "asinh_", [&] { return operand_for_backward(self()).asinh(); });
}
Tensor& LibtorchMethods::acosh_() const {
  return run_in_place(self(), "acosh_", [&] { return operand_for_backward(self()).acosh(); });
}
Tensor& LibtorchMethods::atanh_() const {
  return run_in_place(self(), "atanh_", [&] { return operand_for_backward(self()).atanh(); });
}
Tensor& LibtorchMethods::sinh_() const {
  return run_in_place(self(), "sinh_", [&] { return operand_for_backward(self()).sinh(); });
}
Tensor& LibtorchMethods::cosh_() const {
  return run_in_place(self(), "cosh_", [&] { return operand_for_backward(self()).cosh(); });
}
Tensor& LibtorchMethods::sinc_() const {
  return run_in_place(self(), "sinc_", [&] { return operand_for_backward(self()).sinc(); });
}
Tensor& LibtorchMethods::frac_() const {
  return run_in_place(self(), "frac_", [&] { return operand_for_backward(self()).frac(); });
}
Tensor& LibtorchMethods::deg2rad_() const {
  return run_in_place(self(), "deg2rad_", [&] { return operand_for_backward(self()).deg2rad(); });
}
Tensor& LibtorchMethods::rad2deg_() const {
  return run_in_place(self(), "rad2deg_", [&] { return operand_for_backward(self()).rad2deg(); });
}
Tensor& LibtorchMethods::swapaxes_(std::int64_t axis0, std::int64_t axis1) const {
  return self().transpose_(axis0, axis1);
}
Tensor& LibtorchMethods::swapdims_(std::int64_t dim0, std::int64_t dim1) const {
  return self().transpose_(dim0, dim1);
}
Tensor& LibtorchMethods::addmv_(const Tensor& mat, const Tensor& vec, Scalar beta,
                                Scalar alpha) const {
  return run_in_place(self(), "addmv_", [&] { return self().addmv(mat, vec, beta, alpha); });
}
Tensor LibtorchMethods::renorm(Scalar p, std::int64_t dim, Scalar maxnorm) const {
  return halfgrad::renorm(self(), p, dim, maxnorm);
}
Tensor& LibtorchMethods::renorm_(Scalar p, std::int64_t dim, Scalar maxnorm) const {
  return run_in_place(self(), "renorm_",
                      [&] { return operand_for_backward(self()).renorm(p, dim, maxnorm); });
}
Tensor& LibtorchMethods::resize_as_(const Tensor& other) const {
  return self().resize_(other.sizes());
}
Tensor LibtorchMethods::index_put(const std::vector<indexing::TensorIndex>& indices,
                                  const Tensor& values, bool accumulate) const {
  return halfgrad::index_put(self(), indices, values, accumulate);
}
Tensor LibtorchMethods::isposinf() const { return self().isinf().logical_and(self() > 0); }
Tensor LibtorchMethods::isneginf() const { return self().isinf().logical_and(self() < 0); }
std::string LibtorchMethods::toString() const {
  return std::string(self().is_cpu() ? "CPU" : "CUDA") + libtorch_name(self().dtype()) + "Type";
}

}  // namespace halfgrad::detail
