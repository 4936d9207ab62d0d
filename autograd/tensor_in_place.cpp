#include <halfgrad/autograd/tensor_in_place.h>

#include <halfgrad/autograd/in_place.h>
#include <halfgrad/autograd/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/tensor.h>
#include <halfgrad/core/random.h>

// The methods that work in place.
namespace halfgrad::detail {
namespace {

// In place there is no choice of dtype, so the cast rule has no say.
template <class F>
Tensor& in_place(const Tensor& target, const char* op, const F& compute) {
  const CastRuleScope no_rule(nullptr);
  // Refuses before random numbers are drawn or work is done.
  if (GradMode::is_enabled() && target.requires_grad()) static_cast<void>(recordable(target, op));
  assign_in_place(target, compute(), op);
  return const_cast<Tensor&>(target);  // as libtorch's return it: what changed is not the handle
}

// `self`, or a copy if backward will ask for the numbers that are about to be overwritten.
Tensor kept(const Tensor& self, bool other_requires_grad = false) {
  const bool recorded = GradMode::is_enabled() && (self.requires_grad() || other_requires_grad);
  return recorded ? self.clone() : self;
}

using Function = Tensor(const Tensor&);

// For a function whose backward looks at its operand, and for one whose backward does not.
Tensor& keeping_operand(const Tensor& self, const char* op, Function& function) {
  return in_place(self, op, [&] { return function(kept(self)); });
}
Tensor& without_operand(const Tensor& self, const char* op, Function& function) {
  return in_place(self, op, [&] { return function(self); });
}

// fill(numbers, key) draws them.
template <class F>
Tensor& drawn(const Tensor& self, const char* op, const F& fill) {
  return in_place(self, op, [&] {
    const Array numbers = Array::empty(self.sizes(), self.dtype(), self.device());
    fill(numbers, default_generator().take());
    return Tensor(numbers);
  });
}

}  // namespace

const Tensor& InPlaceMethods::self() const { return static_cast<const Tensor&>(*this); }

Tensor& InPlaceMethods::add_(const Tensor& other, Scalar alpha) const {
  return in_place(self(), "add_", [&] { return self().add(other, alpha); });
}
Tensor& InPlaceMethods::sub_(const Tensor& other, Scalar alpha) const {
  return in_place(self(), "sub_", [&] { return self().sub(other, alpha); });
}
Tensor& InPlaceMethods::mul_(const Tensor& other) const {
  return in_place(self(), "mul_", [&] { return kept(self(), other.requires_grad()) * other; });
}
Tensor& InPlaceMethods::div_(const Tensor& other) const {
  return in_place(self(), "div_", [&] { return kept(self(), other.requires_grad()) / other; });
}
Tensor& InPlaceMethods::add_(Scalar other, Scalar alpha) const {
  return in_place(self(), "add_", [&] { return self().add(other, alpha); });
}
Tensor& InPlaceMethods::sub_(Scalar other, Scalar alpha) const {
  return in_place(self(), "sub_", [&] { return self().sub(other, alpha); });
}
Tensor& InPlaceMethods::mul_(Scalar other) const {
  return in_place(self(), "mul_", [&] { return kept(self()) * other; });
}
Tensor& InPlaceMethods::div_(Scalar other) const {
  return in_place(self(), "div_", [&] { return kept(self()) / other; });
}
Tensor& InPlaceMethods::div_(const Tensor& other,
                             std::optional<std::string_view> rounding_mode) const {
  if (!rounding_mode) return div_(other);
  return in_place(self(), "div_", [&] { return self().div(other, rounding_mode); });
}
Tensor& InPlaceMethods::div_(Scalar other, std::optional<std::string_view> rounding_mode) const {
  return in_place(self(), "div_", [&] { return self().div(other, rounding_mode); });
}
Tensor& InPlaceMethods::floor_divide_(const Tensor& other) const {
  return in_place(self(), "floor_divide_", [&] { return self().floor_divide(other); });
}
Tensor& InPlaceMethods::floor_divide_(Scalar other) const {
  return in_place(self(), "floor_divide_", [&] { return self().floor_divide(other); });
}
Tensor& InPlaceMethods::remainder_(const Tensor& other) const {
  return in_place(self(), "remainder_",
                  [&] { return kept(self(), other.requires_grad()).remainder(other); });
}
Tensor& InPlaceMethods::remainder_(Scalar other) const {
  return in_place(self(), "remainder_", [&] { return self().remainder(other); });
}
Tensor& InPlaceMethods::fmod_(const Tensor& other) const {
  return in_place(self(), "fmod_", [&] { return kept(self(), other.requires_grad()).fmod(other); });
}
Tensor& InPlaceMethods::fmod_(Scalar other) const {
  return in_place(self(), "fmod_", [&] { return self().fmod(other); });
}
Tensor& InPlaceMethods::pow_(const Tensor& exponent) const {
  return in_place(self(), "pow_",
                  [&] { return kept(self(), exponent.requires_grad()).pow(exponent); });
}
Tensor& InPlaceMethods::pow_(Scalar exponent) const {
  return in_place(self(), "pow_", [&] { return kept(self()).pow(exponent); });
}
Tensor& InPlaceMethods::clamp_(std::optional<Scalar> min, std::optional<Scalar> max) const {
  return in_place(self(), "clamp_", [&] { return kept(self()).clamp(min, max); });
}
Tensor& InPlaceMethods::clamp_(const Tensor& min) const { return clamp_(min, {}); }
Tensor& InPlaceMethods::clamp_(const Tensor& min, const Tensor& max) const {
  const Tensor bounds[] = {min, max};
  return in_place(self(), "clamp_",
                  [&] { return kept(self(), any_requires_grad(bounds)).clamp(min, max); });
}
Tensor& InPlaceMethods::clamp_min_(Scalar min) const {
  return in_place(self(), "clamp_min_", [&] { return kept(self()).clamp_min(min); });
}
Tensor& InPlaceMethods::clamp_max_(Scalar max) const {
  return in_place(self(), "clamp_max_", [&] { return kept(self()).clamp_max(max); });
}
Tensor& InPlaceMethods::clamp_min_(const Tensor& min) const {
  return in_place(self(), "clamp_min_",
                  [&] { return kept(self(), min.requires_grad()).clamp_min(min); });
}
Tensor& InPlaceMethods::clamp_max_(const Tensor& max) const {
  return in_place(self(), "clamp_max_",
                  [&] { return kept(self(), max.requires_grad()).clamp_max(max); });
}
Tensor& InPlaceMethods::lerp_(const Tensor& end, const Tensor& weight) const {
  const Tensor others[] = {end, weight};
  return in_place(self(), "lerp_",
                  [&] { return kept(self(), any_requires_grad(others)).lerp(end, weight); });
}
Tensor& InPlaceMethods::lerp_(const Tensor& end, Scalar weight) const {
  return in_place(self(), "lerp_", [&] { return self().lerp(end, weight); });
}
Tensor& InPlaceMethods::addcmul_(const Tensor& tensor1, const Tensor& tensor2, Scalar value) const {
  return in_place(self(), "addcmul_", [&] { return self().addcmul(tensor1, tensor2, value); });
}
Tensor& InPlaceMethods::addcdiv_(const Tensor& tensor1, const Tensor& tensor2, Scalar value) const {
  return in_place(self(), "addcdiv_", [&] { return self().addcdiv(tensor1, tensor2, value); });
}

Tensor& InPlaceMethods::abs_() const { return keeping_operand(self(), "abs_", halfgrad::abs); }
Tensor& InPlaceMethods::log_() const { return keeping_operand(self(), "log_", halfgrad::log); }
Tensor& InPlaceMethods::log2_() const { return keeping_operand(self(), "log2_", halfgrad::log2); }
Tensor& InPlaceMethods::log10_() const {
  return keeping_operand(self(), "log10_", halfgrad::log10);
}
Tensor& InPlaceMethods::log1p_() const {
  return keeping_operand(self(), "log1p_", halfgrad::log1p);
}
Tensor& InPlaceMethods::square_() const {
  return keeping_operand(self(), "square_", halfgrad::square);
}
Tensor& InPlaceMethods::sin_() const { return keeping_operand(self(), "sin_", halfgrad::sin); }
Tensor& InPlaceMethods::cos_() const { return keeping_operand(self(), "cos_", halfgrad::cos); }
Tensor& InPlaceMethods::erf_() const { return keeping_operand(self(), "erf_", halfgrad::erf); }

Tensor& InPlaceMethods::neg_() const { return without_operand(self(), "neg_", halfgrad::neg); }
Tensor& InPlaceMethods::exp_() const { return without_operand(self(), "exp_", halfgrad::exp); }
Tensor& InPlaceMethods::exp2_() const { return without_operand(self(), "exp2_", halfgrad::exp2); }
Tensor& InPlaceMethods::expm1_() const {
  return without_operand(self(), "expm1_", halfgrad::expm1);
}
Tensor& InPlaceMethods::sqrt_() const { return without_operand(self(), "sqrt_", halfgrad::sqrt); }
Tensor& InPlaceMethods::rsqrt_() const {
  return without_operand(self(), "rsqrt_", halfgrad::rsqrt);
}
Tensor& InPlaceMethods::reciprocal_() const {
  return without_operand(self(), "reciprocal_", halfgrad::reciprocal);
}
Tensor& InPlaceMethods::tan_() const { return without_operand(self(), "tan_", halfgrad::tan); }
Tensor& InPlaceMethods::tanh_() const { return without_operand(self(), "tanh_", halfgrad::tanh); }
Tensor& InPlaceMethods::sigmoid_() const {
  return without_operand(self(), "sigmoid_", halfgrad::sigmoid);
}
Tensor& InPlaceMethods::relu_() const { return without_operand(self(), "relu_", halfgrad::relu); }
Tensor& InPlaceMethods::floor_() const {
  return without_operand(self(), "floor_", halfgrad::floor);
}
Tensor& InPlaceMethods::ceil_() const { return without_operand(self(), "ceil_", halfgrad::ceil); }
Tensor& InPlaceMethods::round_() const {
  return without_operand(self(), "round_", halfgrad::round);
}
Tensor& InPlaceMethods::trunc_() const {
  return without_operand(self(), "trunc_", halfgrad::trunc);
}
Tensor& InPlaceMethods::sign_() const { return without_operand(self(), "sign_", halfgrad::sign); }

Tensor& InPlaceMethods::tril_(std::int64_t diagonal) const {
  return in_place(self(), "tril_", [&] { return self().tril(diagonal); });
}
Tensor& InPlaceMethods::triu_(std::int64_t diagonal) const {
  return in_place(self(), "triu_", [&] { return self().triu(diagonal); });
}
Tensor& InPlaceMethods::masked_fill_(const Tensor& mask, Scalar value) const {
  return in_place(self(), "masked_fill_", [&] { return self().masked_fill(mask, value); });
}
Tensor& InPlaceMethods::scatter_add_(std::int64_t dim, const Tensor& index,
                                     const Tensor& src) const {
  return in_place(self(), "scatter_add_", [&] { return self().scatter_add(dim, index, src); });
}
Tensor& InPlaceMethods::addmm_(const Tensor& mat1, const Tensor& mat2, Scalar beta,
                               Scalar alpha) const {
  return in_place(self(), "addmm_", [&] { return self().addmm(mat1, mat2, beta, alpha); });
}
Tensor& InPlaceMethods::baddbmm_(const Tensor& batch1, const Tensor& batch2, Scalar beta,
                                 Scalar alpha) const {
  return in_place(self(), "baddbmm_", [&] { return self().baddbmm(batch1, batch2, beta, alpha); });
}
Tensor& InPlaceMethods::copy_(const Tensor& source) const {
  const Tensor& x = self();
  return in_place(x, "copy_", [&] { return source.to(x).expand(x.sizes()); });
}
Tensor& InPlaceMethods::fill_(Scalar value) const {
  const Tensor& x = self();
  return in_place(x, "fill_", [&] {
    return Tensor(Array::full({}, value, x.dtype(), x.device())).expand(x.sizes());
  });
}
Tensor& InPlaceMethods::normal_(double mean, double std) const {
  return drawn(self(), "normal_", [=](const Array& numbers, RandomKey key) {
    random::normal(numbers, mean, std, key);
  });
}
Tensor& InPlaceMethods::uniform_(double from, double to) const {
  return drawn(self(), "uniform_", [=](const Array& numbers, RandomKey key) {
    random::uniform(numbers, from, to, key);
  });
}
Tensor& InPlaceMethods::bernoulli_(double p) const {
  return drawn(self(), "bernoulli_",
               [=](const Array& numbers, RandomKey key) { random::bernoulli(numbers, p, key); });
}

}  // namespace halfgrad::detail
