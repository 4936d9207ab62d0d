#include <array>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/op.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace {

using DividendAndDivisor = std::array<Tensor, 2>;

// The gradient is 0, whatever the divisor.
Tensor truncated_quotient(const DividendAndDivisor& operands, DType dtype) {
  const auto& [a, b] = operands;
  const DType compute = is_reduced(dtype) ? kFloat : dtype;  // rounded up it might be the next one
  Array result;
  {
    const NoGradGuard no_grad;
    result = to(trunc(to(a, compute) / to(b, compute)), dtype).array();
  }
  return detail::record("div", std::move(result), operands,
                        [](const Tensor& grad, std::span<Tensor> grad_inputs) {
                          for (Tensor& each : grad_inputs) each = zeros_like(grad);
                        });
}

// a / b, off by rounding to the 53 bits of a double. 2^63 wraps.
Tensor close_quotient(const Tensor& a, const Tensor& b) {
  return to(trunc(to(a, kDouble) / to(b, kDouble)), kLong);
}

// Of int64, modulo 2^64.
Tensor exact_quotient(const Tensor& a, const Tensor& b, bool toward_zero) {
  Tensor quotient = close_quotient(a, b);
  // What is left is below |b| + 2^12, so that the quotient of that is off by less than 1, ...
  quotient = quotient + close_quotient(a - quotient * b, b);
  // ... and what is left now is below |b|, on either side.
  const Tensor rest = a - quotient * b;
  const Tensor inexact = rest != 0;
  quotient = quotient - to(inexact & ((rest < 0) ^ (b < 0)), kLong);
  return toward_zero ? quotient + to(inexact & ((a < 0) ^ (b < 0)), kLong) : quotient;
}

// A GPU would have to be waited for.
void expect_no_zero(const Tensor& a, const Tensor& b) {
  if (!b.is_cpu() || numel(broadcast_shapes(a.sizes(), b.sizes(), "div")) == 0) return;
  if (any(b == 0).item<bool>()) {
    throw std::invalid_argument("div: expected no integer divisor of 0, got one");
  }
}

}  // namespace

Tensor div(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
  if (!rounding_mode) return div(self, other);
  const bool toward_zero = *rounding_mode == "trunc";
  if (!toward_zero && *rounding_mode != "floor") {
    throw std::invalid_argument("div: expected rounding_mode 'trunc' or 'floor', got '" +
                                std::string(*rounding_mode) + "'");
  }
  DividendAndDivisor operands{self, other};
  const DType dtype = detail::result_type(operands);
  detail::use_one_device("div", operands);
  if (is_floating_point(dtype) && toward_zero) return truncated_quotient(operands, dtype);
  if (is_floating_point(dtype) || dtype == kBool) {
    throw std::invalid_argument("div: expected " +
                                std::string(toward_zero ? "numbers" : "integers") +
                                " for rounding_mode '" + std::string(*rounding_mode) + "', got " +
                                std::string(name(dtype)));
  }
  const auto& [a, b] = operands;
  expect_no_zero(a, b);
  return to(exact_quotient(to(a, kLong), to(b, kLong), toward_zero), dtype);
}

Tensor div(const Tensor& self, Scalar other, std::optional<std::string_view> rounding_mode) {
  return div(self, detail::wrap(other, self.device()), rounding_mode);
}
Tensor floor_divide(const Tensor& self, const Tensor& other) { return div(self, other, "floor"); }
Tensor floor_divide(const Tensor& self, Scalar other) { return div(self, other, "floor"); }

}  // namespace halfgrad
