#include <stdexcept>
#include <string>

#include <halfgrad/autograd/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/tensor.h>

namespace halfgrad {

Tensor Tensor::to(DType dtype) const { return halfgrad::to(*this, dtype); }
Tensor Tensor::to(Device device) const { return halfgrad::to(*this, device); }
Tensor Tensor::clone() const { return halfgrad::clone(*this); }
Tensor Tensor::contiguous() const { return halfgrad::contiguous(*this); }
Tensor Tensor::reshape(const Shape& sizes) const { return halfgrad::reshape(*this, sizes); }
Tensor Tensor::view(const Shape& sizes) const {
  Tensor result = reshape(sizes);
  if (numel() > 0 && result.array().storage() != array().storage()) {
    throw std::runtime_error("view: expected strides that show shape " + to_string(result.sizes()) +
                             " without a copy, got shape " + to_string(this->sizes()) +
                             " with strides " + to_string(strides()) + "; use reshape()");
  }
  return result;
}
Tensor Tensor::t() const {
  if (dim() > 2) {
    throw std::invalid_argument("t: expected at most 2 dimensions, got " + std::to_string(dim()));
  }
  return dim() < 2 ? *this : transpose(0, 1);
}
Tensor Tensor::transpose(std::int64_t dim0, std::int64_t dim1) const {
  return halfgrad::transpose(*this, dim0, dim1);
}
Tensor Tensor::permute(const Shape& dims) const { return halfgrad::permute(*this, dims); }
Tensor Tensor::squeeze() const { return halfgrad::squeeze(*this); }
Tensor Tensor::squeeze(std::int64_t dim) const { return halfgrad::squeeze(*this, dim); }
Tensor Tensor::unsqueeze(std::int64_t dim) const { return halfgrad::unsqueeze(*this, dim); }
Tensor Tensor::expand(const Shape& sizes) const { return halfgrad::expand(*this, sizes); }
Tensor Tensor::slice(std::int64_t dim, std::optional<std::int64_t> start,
                     std::optional<std::int64_t> end, std::int64_t step) const {
  return halfgrad::slice(*this, dim, start, end, step);
}
Tensor Tensor::select(std::int64_t dim, std::int64_t index) const {
  return halfgrad::select(*this, dim, index);
}
Tensor Tensor::flatten(std::int64_t start_dim, std::int64_t end_dim) const {
  return halfgrad::flatten(*this, start_dim, end_dim);
}
Tensor Tensor::mean(std::optional<DType> dtype) const { return halfgrad::mean(*this, dtype); }
Tensor Tensor::mean(const Shape& dim, bool keepdim, std::optional<DType> dtype) const {
  return halfgrad::mean(*this, dim, keepdim, dtype);
}
Tensor Tensor::max() const { return halfgrad::max(*this); }
Tensor Tensor::min() const { return halfgrad::min(*this); }
Tensor Tensor::argmax(std::optional<std::int64_t> dim, bool keepdim) const {
  return halfgrad::argmax(*this, dim, keepdim);
}
Tensor Tensor::argmin(std::optional<std::int64_t> dim, bool keepdim) const {
  return halfgrad::argmin(*this, dim, keepdim);
}
Tensor Tensor::norm(Scalar p) const { return halfgrad::norm(*this, p); }
Tensor Tensor::all() const { return halfgrad::all(*this); }
Tensor Tensor::any() const { return halfgrad::any(*this); }
Tensor Tensor::softmax(std::int64_t dim) const { return halfgrad::softmax(*this, dim); }
Tensor Tensor::log_softmax(std::int64_t dim) const { return halfgrad::log_softmax(*this, dim); }
Tensor Tensor::matmul(const Tensor& other) const { return halfgrad::matmul(*this, other); }
Tensor Tensor::mm(const Tensor& other) const { return halfgrad::mm(*this, other); }
Tensor Tensor::sum(std::optional<DType> dtype) const { return halfgrad::sum(*this, dtype); }
Tensor Tensor::sum(const Shape& dim, bool keepdim, std::optional<DType> dtype) const {
  return halfgrad::sum(*this, dim, keepdim, dtype);
}
Tensor Tensor::abs() const { return halfgrad::abs(*this); }
Tensor Tensor::exp() const { return halfgrad::exp(*this); }
Tensor Tensor::log() const { return halfgrad::log(*this); }
Tensor Tensor::sqrt() const { return halfgrad::sqrt(*this); }
Tensor Tensor::pow(Scalar exponent) const { return halfgrad::pow(*this, exponent); }
Tensor Tensor::tanh() const { return halfgrad::tanh(*this); }
Tensor Tensor::sigmoid() const { return halfgrad::sigmoid(*this); }
Tensor Tensor::relu() const { return halfgrad::relu(*this); }
Tensor Tensor::clamp(std::optional<Scalar> min, std::optional<Scalar> max) const {
  return halfgrad::clamp(*this, min, max);
}
Tensor Tensor::eq(const Tensor& other) const { return halfgrad::eq(*this, other); }

namespace {

// In place there is no choice of dtype, so the cast rule has no say.
template <class F>
Tensor& in_place(Tensor& target, const char* op, const F& compute) {
  const detail::CastRuleScope no_rule(nullptr);
  return detail::assign_in_place(target, compute(), op);
}

// `self`, or a copy if backward will ask for the numbers that are about to be overwritten.
Tensor kept(const Tensor& self, bool other_requires_grad = false) {
  const bool recorded = GradMode::is_enabled() && (self.requires_grad() || other_requires_grad);
  return recorded ? self.clone() : self;
}

}  // namespace

Tensor& Tensor::add_(const Tensor& other, Scalar alpha) {
  return in_place(*this, "add_", [&] { return halfgrad::add(*this, other, alpha); });
}
Tensor& Tensor::sub_(const Tensor& other, Scalar alpha) {
  return in_place(*this, "sub_", [&] { return halfgrad::sub(*this, other, alpha); });
}
Tensor& Tensor::mul_(const Tensor& other) {
  return in_place(*this, "mul_", [&] { return kept(*this, other.requires_grad()) * other; });
}
Tensor& Tensor::div_(const Tensor& other) {
  return in_place(*this, "div_", [&] { return kept(*this, other.requires_grad()) / other; });
}
Tensor& Tensor::add_(Scalar other) {
  return in_place(*this, "add_", [&] { return *this + other; });
}
Tensor& Tensor::sub_(Scalar other) {
  return in_place(*this, "sub_", [&] { return *this - other; });
}
Tensor& Tensor::mul_(Scalar other) {
  return in_place(*this, "mul_", [&] { return kept(*this) * other; });
}
Tensor& Tensor::div_(Scalar other) {
  return in_place(*this, "div_", [&] { return kept(*this) / other; });
}
Tensor& Tensor::exp_() {
  return in_place(*this, "exp_", [&] { return halfgrad::exp(*this); });
}
Tensor& Tensor::relu_() {
  return in_place(*this, "relu_", [&] { return halfgrad::relu(*this); });
}
Tensor& Tensor::sigmoid_() {
  return in_place(*this, "sigmoid_", [&] { return halfgrad::sigmoid(*this); });
}
Tensor& Tensor::tanh_() {
  return in_place(*this, "tanh_", [&] { return halfgrad::tanh(*this); });
}
Tensor& Tensor::clamp_(std::optional<Scalar> min, std::optional<Scalar> max) {
  return in_place(*this, "clamp_", [&] { return halfgrad::clamp(kept(*this), min, max); });
}
Tensor& Tensor::copy_(const Tensor& source) {
  return in_place(*this, "copy_",
                  [&] { return halfgrad::expand(source.to(device()).to(dtype()), sizes()); });
}
Tensor& Tensor::fill_(Scalar value) {
  return in_place(*this, "fill_", [&] {
    return halfgrad::expand(Tensor(Array::full({}, value, dtype(), device())), sizes());
  });
}

}  // namespace halfgrad
