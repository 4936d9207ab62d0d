#include <halfgrad/autograd/tensor/tensor_in_place.h>

#include <cstdint>
#include <limits>
#include <type_traits>

#include <halfgrad/autograd/graph/in_place.h>
#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/graph/op_name.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/tensor.h>
#include <halfgrad/core/engines/copy.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/random.h>

// The in-place methods of ops of several operands, and those without a function of the same name.
namespace halfgrad::detail {
namespace {

// One more than the largest integer of random_().
std::int64_t integers_of(DType dtype) {
  if (is_floating_point(dtype)) return static_cast<std::int64_t>(1 / roundoff(dtype)) + 1;
  return visit(dtype, [](auto tag) -> std::int64_t {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) {
      constexpr std::int64_t kLargest = std::numeric_limits<T>::max();
      return sizeof(T) < sizeof kLargest ? kLargest + 1 : kLargest;
    }
    return 0;
  });
}

Tensor& filled(const Tensor& self, const char* op, Scalar value) {
  return run_in_place(self, op, [&] {
    return Tensor(Array::full({}, value, self.dtype(), self.device())).expand(self.sizes());
  });
}

// The dtype in which to draw elements of a continuous distribution.
DType drawn_dtype(const Array& elements) {
  return is_reduced(elements.dtype()) ? kFloat32 : elements.dtype();
}

// Throws unless `self` can hold fractions and its parameter is positive.
void expect_continuous(const Tensor& self, const char* op, const char* name, double parameter) {
  if (!self.is_floating_point()) {
    fail(op, "expected a floating point tensor, got {}", self.dtype());
  }
  if (!(parameter > 0)) fail(op, "expected {} > 0, got {}", name, parameter);
}

// Assigns random elements, which fill(elements, key) draws.
template <class F>
Tensor& drawn(const Tensor& self, const char* op, const F& fill) {
  return run_in_place(self, op, [&] {
    const Array elements = Array::empty(self.sizes(), self.dtype(), self.device());
    fill(elements, default_generator().take());
    return Tensor(elements);
  });
}

}  // namespace

const Tensor& UnaryMethods::self() const { return static_cast<const Tensor&>(*this); }

Tensor& InPlaceMethods::add_(const Tensor& other, Scalar alpha) const {
  return run_in_place(self(), "add_", [&] { return self().add(other, alpha); });
}
Tensor& InPlaceMethods::sub_(const Tensor& other, Scalar alpha) const {
  return run_in_place(self(), "sub_", [&] { return self().sub(other, alpha); });
}
Tensor& InPlaceMethods::mul_(const Tensor& other) const {
  return run_in_place(self(), "mul_",
                      [&] { return operand_for_backward(self(), other.requires_grad()) * other; });
}
Tensor& InPlaceMethods::div_(const Tensor& other) const {
  return run_in_place(self(), "div_",
                      [&] { return operand_for_backward(self(), other.requires_grad()) / other; });
}
Tensor& InPlaceMethods::add_(Scalar other, Scalar alpha) const {
  return run_in_place(self(), "add_", [&] { return self().add(other, alpha); });
}
Tensor& InPlaceMethods::sub_(Scalar other, Scalar alpha) const {
  return run_in_place(self(), "sub_", [&] { return self().sub(other, alpha); });
}
Tensor& InPlaceMethods::mul_(Scalar other) const {
  return run_in_place(self(), "mul_", [&] { return operand_for_backward(self()) * other; });
}
Tensor& InPlaceMethods::div_(Scalar other) const {
  return run_in_place(self(), "div_", [&] { return operand_for_backward(self()) / other; });
}
Tensor& InPlaceMethods::div_(const Tensor& other,
                             std::optional<std::string_view> rounding_mode) const {
  if (!rounding_mode) return div_(other);
  return run_in_place(self(), "div_", [&] { return self().div(other, rounding_mode); });
}
Tensor& InPlaceMethods::div_(Scalar other, std::optional<std::string_view> rounding_mode) const {
  return run_in_place(self(), "div_", [&] { return self().div(other, rounding_mode); });
}
Tensor& InPlaceMethods::floor_divide_(const Tensor& other) const {
  return run_in_place(self(), "floor_divide_", [&] { return self().floor_divide(other); });
}
Tensor& InPlaceMethods::floor_divide_(Scalar other) const {
  return run_in_place(self(), "floor_divide_", [&] { return self().floor_divide(other); });
}
Tensor& InPlaceMethods::remainder_(const Tensor& other) const {
  return run_in_place(self(), "remainder_", [&] {
    return operand_for_backward(self(), other.requires_grad()).remainder(other);
  });
}
Tensor& InPlaceMethods::remainder_(Scalar other) const {
  return run_in_place(self(), "remainder_", [&] { return self().remainder(other); });
}
Tensor& InPlaceMethods::fmod_(const Tensor& other) const {
  return run_in_place(self(), "fmod_", [&] {
    return operand_for_backward(self(), other.requires_grad()).fmod(other);
  });
}
Tensor& InPlaceMethods::fmod_(Scalar other) const {
  return run_in_place(self(), "fmod_", [&] { return self().fmod(other); });
}
Tensor& InPlaceMethods::operator&=(const Tensor& other) const {
  return run_in_place(self(), "operator&=", [&] { return self() & other; });
}
Tensor& InPlaceMethods::operator|=(const Tensor& other) const {
  return run_in_place(self(), "operator|=", [&] { return self() | other; });
}
Tensor& InPlaceMethods::operator^=(const Tensor& other) const {
  return run_in_place(self(), "operator^=", [&] { return self() ^ other; });
}
Tensor& InPlaceMethods::pow_(const Tensor& exponent) const {
  return run_in_place(self(), "pow_", [&] {
    return operand_for_backward(self(), exponent.requires_grad()).pow(exponent);
  });
}
Tensor& InPlaceMethods::pow_(Scalar exponent) const {
  return run_in_place(self(), "pow_", [&] { return operand_for_backward(self()).pow(exponent); });
}
Tensor& InPlaceMethods::clamp_(std::optional<Scalar> min, std::optional<Scalar> max) const {
  return run_in_place(self(), "clamp_",
                      [&] { return operand_for_backward(self()).clamp(min, max); });
}
Tensor& InPlaceMethods::clip_(std::optional<Scalar> min, std::optional<Scalar> max) const {
  return clamp_(min, max);
}
Tensor& InPlaceMethods::clamp_(const Tensor& min) const { return clamp_(min, {}); }
Tensor& InPlaceMethods::clamp_(const Tensor& min, const Tensor& max) const {
  const Tensor bounds[] = {min, max};
  return run_in_place(self(), "clamp_", [&] {
    return operand_for_backward(self(), any_requires_grad(bounds)).clamp(min, max);
  });
}
Tensor& InPlaceMethods::clamp_min_(Scalar min) const {
  return run_in_place(self(), "clamp_min_",
                      [&] { return operand_for_backward(self()).clamp_min(min); });
}
Tensor& InPlaceMethods::clamp_max_(Scalar max) const {
  return run_in_place(self(), "clamp_max_",
                      [&] { return operand_for_backward(self()).clamp_max(max); });
}
Tensor& InPlaceMethods::clamp_min_(const Tensor& min) const {
  return run_in_place(self(), "clamp_min_", [&] {
    return operand_for_backward(self(), min.requires_grad()).clamp_min(min);
  });
}
Tensor& InPlaceMethods::clamp_max_(const Tensor& max) const {
  return run_in_place(self(), "clamp_max_", [&] {
    return operand_for_backward(self(), max.requires_grad()).clamp_max(max);
  });
}
Tensor& InPlaceMethods::lerp_(const Tensor& end, const Tensor& weight) const {
  const Tensor others[] = {end, weight};
  return run_in_place(self(), "lerp_", [&] {
    return operand_for_backward(self(), any_requires_grad(others)).lerp(end, weight);
  });
}
Tensor& InPlaceMethods::lerp_(const Tensor& end, Scalar weight) const {
  return run_in_place(self(), "lerp_", [&] { return self().lerp(end, weight); });
}
Tensor& InPlaceMethods::addcmul_(const Tensor& tensor1, const Tensor& tensor2, Scalar value) const {
  return run_in_place(self(), "addcmul_", [&] { return self().addcmul(tensor1, tensor2, value); });
}
Tensor& InPlaceMethods::addcdiv_(const Tensor& tensor1, const Tensor& tensor2, Scalar value) const {
  return run_in_place(self(), "addcdiv_", [&] { return self().addcdiv(tensor1, tensor2, value); });
}

Tensor& InPlaceMethods::tril_(std::int64_t diagonal) const {
  return run_in_place(self(), "tril_", [&] { return self().tril(diagonal); });
}
Tensor& InPlaceMethods::triu_(std::int64_t diagonal) const {
  return run_in_place(self(), "triu_", [&] { return self().triu(diagonal); });
}
Tensor& InPlaceMethods::masked_fill_(const Tensor& mask, const Tensor& value) const {
  return run_in_place(self(), "masked_fill_", [&] { return self().masked_fill(mask, value); });
}
Tensor& InPlaceMethods::masked_fill_(const Tensor& mask, Scalar value) const {
  return run_in_place(self(), "masked_fill_", [&] { return self().masked_fill(mask, value); });
}
Tensor& InPlaceMethods::scatter_add_(std::int64_t dim, const Tensor& index,
                                     const Tensor& src) const {
  return run_in_place(self(), "scatter_add_", [&] { return self().scatter_add(dim, index, src); });
}
Tensor& InPlaceMethods::addmm_(const Tensor& mat1, const Tensor& mat2, Scalar beta,
                               Scalar alpha) const {
  return run_in_place(self(), "addmm_", [&] { return self().addmm(mat1, mat2, beta, alpha); });
}
Tensor& InPlaceMethods::baddbmm_(const Tensor& batch1, const Tensor& batch2, Scalar beta,
                                 Scalar alpha) const {
  return run_in_place(self(), "baddbmm_",
                      [&] { return self().baddbmm(batch1, batch2, beta, alpha); });
}
Tensor& InPlaceMethods::copy_(const Tensor& source) const {
  const Tensor& x = self();
  return run_in_place(x, "copy_", [&] {
    return with_op_name("copy_", "expand", [&] { return source.to(x).expand(x.sizes()); });
  });
}
Tensor& InPlaceMethods::fill_(Scalar value) const { return filled(self(), "fill_", value); }
Tensor& InPlaceMethods::fill_(const Tensor& value) const {
  if (value.dim() != 0) fail("fill_", "expected a 0-dim tensor, got one of {}", value.sizes());
  const Tensor& x = self();
  return run_in_place(x, "fill_", [&] {
    return with_op_name("fill_", "expand", [&] { return value.to(x).expand(x.sizes()); });
  });
}
Tensor& InPlaceMethods::zero_() const { return filled(self(), "zero_", 0); }
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
// -log(1 - u) / lambd of uniform u in [0, 1), drawn in at least float32
Tensor& InPlaceMethods::exponential_(double lambd) const {
  expect_continuous(self(), "exponential_", "lambd", lambd);
  return drawn(self(), "exponential_", [=](const Array& numbers, RandomKey key) {
    const Array u = Array::empty(numbers.sizes(), drawn_dtype(numbers), numbers.device());
    random::uniform(u, 0, 1, key);
    copy(numbers, ((-Tensor(u)).log1p() / -lambd).array());
  });
}
Tensor& InPlaceMethods::log_normal_(double mean, double std) const {
  expect_continuous(self(), "log_normal_", "std", std);
  return drawn(self(), "log_normal_", [=](const Array& numbers, RandomKey key) {
    const Array x = Array::empty(numbers.sizes(), drawn_dtype(numbers), numbers.device());
    random::normal(x, mean, std, key);
    copy(numbers, Tensor(x).exp().array());
  });
}
Tensor& InPlaceMethods::random_() const { return random_(0, integers_of(self().dtype())); }
Tensor& InPlaceMethods::random_(std::int64_t from, std::int64_t to) const {
  return drawn(self(), "random_", [=](const Array& numbers, RandomKey key) {
    random::integer(numbers, from, to, key);
  });
}

}  // namespace halfgrad::detail
