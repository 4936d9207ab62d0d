#include <halfgrad/autograd/tensor/tensor_methods.h>

#include <iostream>

#include <halfgrad/autograd/composed/writing.h>
#include <halfgrad/autograd/graph/op_name.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/tensor.h>
#include <halfgrad/core/error.h>

// Methods that return a new tensor. In-place methods are in tensor_in_place.cpp; methods of ops of
// one tensor are in the files of the ops, in ops/.
namespace halfgrad::detail {

// Arithmetic
Tensor TensorMethods::add(const Tensor& other, Scalar alpha) const {
  return halfgrad::add(self(), other, alpha);
}
Tensor TensorMethods::sub(const Tensor& other, Scalar alpha) const {
  return halfgrad::sub(self(), other, alpha);
}
Tensor TensorMethods::mul(const Tensor& other) const { return halfgrad::mul(self(), other); }
Tensor TensorMethods::div(const Tensor& other) const { return halfgrad::div(self(), other); }
Tensor TensorMethods::add(Scalar other, Scalar alpha) const {
  return halfgrad::add(self(), other, alpha);
}
Tensor TensorMethods::sub(Scalar other, Scalar alpha) const {
  return halfgrad::sub(self(), other, alpha);
}
Tensor TensorMethods::mul(Scalar other) const { return halfgrad::mul(self(), other); }
Tensor TensorMethods::div(Scalar other) const { return halfgrad::div(self(), other); }
Tensor TensorMethods::div(const Tensor& other,
                          std::optional<std::string_view> rounding_mode) const {
  return halfgrad::div(self(), other, rounding_mode);
}
Tensor TensorMethods::div(Scalar other, std::optional<std::string_view> rounding_mode) const {
  return halfgrad::div(self(), other, rounding_mode);
}
Tensor TensorMethods::floor_divide(const Tensor& other) const {
  return halfgrad::floor_divide(self(), other);
}
Tensor TensorMethods::floor_divide(Scalar other) const {
  return halfgrad::floor_divide(self(), other);
}
Tensor TensorMethods::remainder(const Tensor& other) const {
  return halfgrad::remainder(self(), other);
}
Tensor TensorMethods::remainder(Scalar other) const { return halfgrad::remainder(self(), other); }
Tensor TensorMethods::fmod(const Tensor& other) const { return halfgrad::fmod(self(), other); }
Tensor TensorMethods::fmod(Scalar other) const { return halfgrad::fmod(self(), other); }
Tensor TensorMethods::pow(const Tensor& exponent) const { return halfgrad::pow(self(), exponent); }
Tensor TensorMethods::pow(Scalar exponent) const { return halfgrad::pow(self(), exponent); }
Tensor TensorMethods::maximum(const Tensor& other) const {
  return halfgrad::maximum(self(), other);
}
Tensor TensorMethods::minimum(const Tensor& other) const {
  return halfgrad::minimum(self(), other);
}
Tensor TensorMethods::clamp(std::optional<Scalar> min, std::optional<Scalar> max) const {
  return halfgrad::clamp(self(), min, max);
}
Tensor TensorMethods::clamp(const Tensor& min) const { return halfgrad::clamp(self(), min); }
Tensor TensorMethods::clamp(const Tensor& min, const Tensor& max) const {
  return halfgrad::clamp(self(), min, max);
}
Tensor TensorMethods::clip(std::optional<Scalar> min, std::optional<Scalar> max) const {
  return halfgrad::clamp(self(), min, max);
}
Tensor TensorMethods::clamp_min(Scalar min) const { return halfgrad::clamp_min(self(), min); }
Tensor TensorMethods::clamp_max(Scalar max) const { return halfgrad::clamp_max(self(), max); }
Tensor TensorMethods::clamp_min(const Tensor& min) const {
  return halfgrad::clamp_min(self(), min);
}
Tensor TensorMethods::clamp_max(const Tensor& max) const {
  return halfgrad::clamp_max(self(), max);
}
Tensor TensorMethods::lerp(const Tensor& end, const Tensor& weight) const {
  return halfgrad::lerp(self(), end, weight);
}
Tensor TensorMethods::lerp(const Tensor& end, Scalar weight) const {
  return halfgrad::lerp(self(), end, weight);
}
Tensor TensorMethods::addcmul(const Tensor& tensor1, const Tensor& tensor2, Scalar value) const {
  return halfgrad::addcmul(self(), tensor1, tensor2, value);
}
Tensor TensorMethods::addcdiv(const Tensor& tensor1, const Tensor& tensor2, Scalar value) const {
  return halfgrad::addcdiv(self(), tensor1, tensor2, value);
}
Tensor TensorMethods::where(const Tensor& condition, const Tensor& other) const {
  return halfgrad::where(condition, self(), other);
}
Tensor TensorMethods::where(const Tensor& condition, Scalar other) const {
  return halfgrad::where(condition, self(), other);
}

// Comparisons and logic
Tensor TensorMethods::eq(const Tensor& other) const { return halfgrad::eq(self(), other); }
Tensor TensorMethods::ne(const Tensor& other) const { return halfgrad::ne(self(), other); }
Tensor TensorMethods::lt(const Tensor& other) const { return halfgrad::lt(self(), other); }
Tensor TensorMethods::le(const Tensor& other) const { return halfgrad::le(self(), other); }
Tensor TensorMethods::gt(const Tensor& other) const { return halfgrad::gt(self(), other); }
Tensor TensorMethods::ge(const Tensor& other) const { return halfgrad::ge(self(), other); }
Tensor TensorMethods::eq(Scalar other) const { return halfgrad::eq(self(), other); }
Tensor TensorMethods::ne(Scalar other) const { return halfgrad::ne(self(), other); }
Tensor TensorMethods::lt(Scalar other) const { return halfgrad::lt(self(), other); }
Tensor TensorMethods::le(Scalar other) const { return halfgrad::le(self(), other); }
Tensor TensorMethods::gt(Scalar other) const { return halfgrad::gt(self(), other); }
Tensor TensorMethods::ge(Scalar other) const { return halfgrad::ge(self(), other); }
Tensor TensorMethods::logical_and(const Tensor& other) const {
  return halfgrad::logical_and(self(), other);
}
Tensor TensorMethods::logical_or(const Tensor& other) const {
  return halfgrad::logical_or(self(), other);
}
Tensor TensorMethods::logical_xor(const Tensor& other) const {
  return halfgrad::logical_xor(self(), other);
}
Tensor TensorMethods::logical_not() const { return halfgrad::logical_not(self()); }
Tensor TensorMethods::isfinite() const { return halfgrad::isfinite(self()); }
Tensor TensorMethods::isinf() const { return halfgrad::isinf(self()); }
Tensor TensorMethods::isnan() const { return halfgrad::isnan(self()); }
Tensor TensorMethods::isclose(const Tensor& other, double rtol, double atol, bool equal_nan) const {
  return halfgrad::isclose(self(), other, rtol, atol, equal_nan);
}
bool TensorMethods::allclose(const Tensor& other, double rtol, double atol, bool equal_nan) const {
  return halfgrad::allclose(self(), other, rtol, atol, equal_nan);
}
bool TensorMethods::equal(const Tensor& other) const { return halfgrad::equal(self(), other); }

// Conversion
Tensor TensorMethods::to(DType dtype) const { return halfgrad::to(self(), dtype); }
Tensor TensorMethods::to(Device device) const { return halfgrad::to(self(), device); }
Tensor TensorMethods::to(Device device, DType dtype) const { return to(device).to(dtype); }
Tensor TensorMethods::to(DType dtype, bool non_blocking, bool copy) const {
  return to(self().device(), dtype, non_blocking, copy);
}
Tensor TensorMethods::to(Device device, bool non_blocking, bool copy) const {
  return to(device, self().dtype(), non_blocking, copy);
}
Tensor TensorMethods::to(Device device, DType dtype, bool /*non_blocking*/, bool copy) const {
  const bool converts = device != self().device() || dtype != self().dtype();
  return copy && !converts ? clone() : to(device, dtype);
}
Tensor TensorMethods::to(const TensorOptions& options) const {
  if (options.requires_grad()) {
    throw halfgrad::detail::Raised<std::invalid_argument>(
        "to: expected options without requires_grad, which a conversion takes from its operand, "
        "got requires_grad(true)");
  }
  const Device device = options.has_device() ? options.device() : self().device();
  return to(device, options.has_dtype() ? options.dtype() : self().dtype());
}
Tensor TensorMethods::to(const Tensor& other) const { return to(other.device(), other.dtype()); }
Tensor TensorMethods::type_as(const Tensor& other) const { return to(other); }
Tensor TensorMethods::toType(DType dtype) const { return to(dtype); }
bool TensorMethods::is_signed() const {
  return self().dtype() != kUInt8 && self().dtype() != kBool;
}
bool TensorMethods::is_nonzero() const {
  return with_op_name("is_nonzero", "item", [&] { return self().item<bool>(); });
}
void TensorMethods::print() const { std::cout << self() << '\n'; }
std::int64_t TensorMethods::itemsize() const { return self().element_size(); }
std::int64_t TensorMethods::get_device() const {
  return self().device().is_cpu() ? -1 : self().device().index();
}
Tensor TensorMethods::cpu() const { return to(kCPU); }
Tensor TensorMethods::cuda() const { return to(kCUDA); }
Tensor TensorMethods::clone(MemoryFormat /*memory_format*/) const {
  return halfgrad::clone(self());
}
Tensor TensorMethods::contiguous(MemoryFormat /*memory_format*/) const {
  return halfgrad::contiguous(self());
}

// Indexing
Tensor TensorMethods::nonzero() const { return halfgrad::nonzero(self()); }
Tensor TensorMethods::masked_select(const Tensor& mask) const {
  return halfgrad::masked_select(self(), mask);
}
Tensor TensorMethods::gather(std::int64_t dim, const Tensor& index) const {
  return halfgrad::gather(self(), dim, index);
}
Tensor TensorMethods::scatter_add(std::int64_t dim, const Tensor& index, const Tensor& src) const {
  return halfgrad::scatter_add(self(), dim, index, src);
}
Tensor TensorMethods::index_select(std::int64_t dim, const Tensor& index) const {
  return halfgrad::index_select(self(), dim, index);
}
Tensor TensorMethods::masked_fill(const Tensor& mask, const Tensor& value) const {
  return halfgrad::masked_fill(self(), mask, value);
}
Tensor TensorMethods::masked_fill(const Tensor& mask, Scalar value) const {
  return halfgrad::masked_fill(self(), mask, value);
}

// Sorting, running sums, draws
std::tuple<Tensor, Tensor> TensorMethods::sort(std::int64_t dim, bool descending) const {
  return halfgrad::sort(self(), dim, descending);
}
Tensor TensorMethods::argsort(std::int64_t dim, bool descending) const {
  return halfgrad::argsort(self(), dim, descending);
}
std::tuple<Tensor, Tensor> TensorMethods::topk(std::int64_t k, std::int64_t dim, bool largest,
                                               bool sorted) const {
  return halfgrad::topk(self(), k, dim, largest, sorted);
}
Tensor TensorMethods::cumsum(std::int64_t dim, std::optional<DType> dtype) const {
  return halfgrad::cumsum(self(), dim, dtype);
}
Tensor TensorMethods::multinomial(std::int64_t num_samples, bool replacement) const {
  return halfgrad::multinomial(self(), num_samples, replacement);
}

// Products
Tensor TensorMethods::matmul(const Tensor& other) const { return halfgrad::matmul(self(), other); }
Tensor TensorMethods::mm(const Tensor& mat2) const { return halfgrad::mm(self(), mat2); }
Tensor TensorMethods::bmm(const Tensor& mat2) const { return halfgrad::bmm(self(), mat2); }
Tensor TensorMethods::mv(const Tensor& vec) const { return halfgrad::mv(self(), vec); }
Tensor TensorMethods::dot(const Tensor& tensor) const { return halfgrad::dot(self(), tensor); }
Tensor TensorMethods::outer(const Tensor& vec2) const { return halfgrad::outer(self(), vec2); }
Tensor TensorMethods::cross(const Tensor& other, std::optional<std::int64_t> dim) const {
  return halfgrad::cross(self(), other, dim);
}
Tensor TensorMethods::addmm(const Tensor& mat1, const Tensor& mat2, Scalar beta,
                            Scalar alpha) const {
  return halfgrad::addmm(self(), mat1, mat2, beta, alpha);
}
Tensor TensorMethods::baddbmm(const Tensor& batch1, const Tensor& batch2, Scalar beta,
                              Scalar alpha) const {
  return halfgrad::baddbmm(self(), batch1, batch2, beta, alpha);
}

}  // namespace halfgrad::detail
