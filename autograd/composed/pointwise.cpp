#include <halfgrad/autograd/composed/pointwise.h>

#include <cmath>
#include <limits>
#include <memory>
#include <numbers>

#include <halfgrad/autograd/composed/widened.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

void expect_floats(const char* op, const Tensor& self) {
  if (!self.is_floating_point()) {
    detail::fail(op, "expected a floating point tensor, got {}", self.dtype());
  }
}

void expect_float_operand(const char* op, const Tensor& self, const Tensor& other) {
  if (!self.is_floating_point() && !other.is_floating_point()) {
    detail::fail(op, "expected a floating point tensor, got {} and {}", self.dtype(),
                 other.dtype());
  }
}

double largest_finite(DType dtype) {
  if (dtype == kFloat64) return std::numeric_limits<double>::max();
  if (dtype == kFloat32) return std::numeric_limits<float>::max();
  return dtype == kFloat16 ? 65504.0 : 0x1.fep127;
}

// Returns the 0-dimensional operand that `number` stands for.
Tensor operand_of(Scalar number, const Tensor& other) {
  return detail::wrap(number, other.device());
}

// A view of the bits of a floating-point tensor as signed integers.
Tensor bits_of(const Tensor& self) {
  const Array x = self.array().contiguous();
  const std::int64_t size = item_size(x.dtype());
  const DType dtype = size == 8 ? kLong : size == 4 ? kInt : kShort;
  return Tensor(Array::from_blob(
      x.data(), x.sizes(), x.strides(), dtype, [storage = x.storage()] {}, x.device()));
}

// sinh(x) = (expm1(x) - expm1(-x)) / 2: both terms have one sign, so that nothing cancels near 0.
Tensor sinh_of(const Tensor& x) { return 0.5 * expm1(x) - 0.5 * expm1(-x); }

}  // namespace

Tensor frac(const Tensor& self) {
  expect_floats("frac", self);
  return self - trunc(self);
}

Tensor nan_to_num(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  if (!self.is_floating_point()) return clone(self);
  const double largest = largest_finite(self.dtype());
  Tensor result = masked_fill(self, isnan(self), nan.value_or(0));
  result = masked_fill(result, self == kUnbounded, posinf.value_or(largest));
  return masked_fill(result, self == -kUnbounded, neginf.value_or(-largest));
}

Tensor positive(const Tensor& self) {
  if (self.dtype() == kBool) detail::fail("positive", "expected any dtype but bool, got bool");
  return self;
}

Tensor deg2rad(const Tensor& self) { return self * (std::numbers::pi / 180); }
Tensor rad2deg(const Tensor& self) { return self * (180 / std::numbers::pi); }

// sinh(x) = 2 sinh(x/2) cosh(x/2), which overflows only if sinh(x) does
Tensor sinh(const Tensor& self) {
  const auto compute = [](const Tensor& x) {
    const Tensor half = x * 0.5;
    return sinh_of(half) * 2 * (0.5 * exp(half) + 0.5 * exp(-half));
  };
  return detail::widened("sinh", Precision::wide_range, kFloat64, compute, self);
}

// cosh(x) = 1 + 2 sinh(x/2)^2: its derivative, unlike that of (exp(x) + exp(-x)) / 2, is accurate
// near 0.
Tensor cosh(const Tensor& self) {
  const auto compute = [](const Tensor& x) {
    const Tensor s = sinh_of(x * 0.5);
    return 1 + s * 2 * s;
  };
  return detail::widened("cosh", Precision::wide_range, kFloat64, compute, self);
}

// sin(z) / z for z = pi x; near 0 its series, which has an accurate derivative
Tensor sinc(const Tensor& self) {
  const auto compute = [](const Tensor& x) {
    const Tensor z = x * std::numbers::pi;
    const Tensor is_small = abs(z) < 0x1p-8;
    const Tensor far = masked_fill(z, is_small, 1);
    const Tensor squares = square(masked_fill(z, ~is_small, 0));
    const Tensor series = 1 - squares / 6 * (1 - squares / 20 * (1 - squares / 42));
    return where(is_small, series, sin(far) / far);
  };
  return detail::widened(kFloat64, compute, self);
}

// log(x) - log(1 - x), whose derivative is right at 0 and 1
Tensor logit(const Tensor& self, std::optional<double> eps) {
  const auto compute = [eps](const Tensor& given) {
    Tensor x = given;
    if (eps && !(*eps < 0)) {
      // The lower bound wins over the upper one, which is below it for eps > 1/2. clamp() differs.
      const Tensor low = given.new_full({}, *eps), high = 1 - low;
      x = where(given < low, low, where(given > high, high, given));
    }
    return log(x) - log(1 - x);
  };
  return detail::widened(kFloat32, compute, self);
}

// larger + log1p(exp(smaller - larger))
Tensor logaddexp(const Tensor& self, const Tensor& other) {
  expect_float_operand("logaddexp", self, other);
  const auto compute = [](const Tensor& a, const Tensor& b) {
    const Tensor is_larger = a >= b;
    const Tensor larger = where(is_larger, a, b), smaller = where(is_larger, b, a);
    // Equal infinities: their difference would be NaN.
    const Tensor infinite = (larger == smaller) & isinf(larger);
    return larger + log1p(exp(masked_fill(smaller - larger, infinite, 0)));
  };
  return detail::widened(kFloat32, compute, self, other);
}

Tensor xlogy(const Tensor& self, const Tensor& other) {
  const auto compute = [](const Tensor& x, const Tensor& y) {
    const Tensor infinite = (y <= 0) | (y == kUnbounded);
    return x * log(masked_fill(y, (x == 0) & infinite, 1));
  };
  return detail::widened(kFloat32, compute, self, other);
}
Tensor xlogy(const Tensor& self, Scalar other) { return xlogy(self, operand_of(other, self)); }
Tensor xlogy(Scalar self, const Tensor& other) { return xlogy(operand_of(self, other), other); }

// sqrt((s a)^2 + (s b)^2) / s: s is 1, or a power of 2 where squares of a and b could overflow or
// underflow in float64.
Tensor hypot(const Tensor& self, const Tensor& other) {
  expect_float_operand("hypot", self, other);
  const auto compute = [](const Tensor& a, const Tensor& b) {
    const Tensor largest = maximum(abs(a.detach()), abs(b.detach()));
    const Tensor s = masked_fill(masked_fill(ones_like(largest), largest > 0x1p500, 0x1p-600),
                                 largest < 0x1p-400, 0x1p600);
    const Tensor root = sqrt(square(a * s) + square(b * s)) / s;
    return masked_fill(root, isinf(a) | isinf(b), kUnbounded);
  };
  return detail::widened(kFloat64, compute, self, other);
}

Tensor heaviside(const Tensor& self, const Tensor& values) {
  if (self.dtype() != values.dtype()) {
    detail::fail("heaviside", "expected self and values of one dtype, got {} and {}", self.dtype(),
                 values.dtype());
  }
  return where(self == 0, values, to(self > 0, self.dtype()));
}

Tensor fmax(const Tensor& self, const Tensor& other) {
  const Tensor with_nan = where(isnan(other), self, other);
  return where(isnan(self) | isnan(other), with_nan, maximum(self, other));
}
Tensor fmin(const Tensor& self, const Tensor& other) {
  const Tensor with_nan = where(isnan(other), self, other);
  return where(isnan(self) | isnan(other), with_nan, minimum(self, other));
}

Tensor signbit(const Tensor& self) {
  return (self.is_floating_point() ? bits_of(self) : self.detach()) < 0;
}

Tensor copysign(const Tensor& self, const Tensor& other) {
  const auto compute = [&other](const Tensor& x, const Tensor&) {
    const Tensor result = where(signbit(x) == signbit(other), x, -x);
    return where(x == 0, result.detach(), result);  // the gradient at 0 is 0, as PyTorch's
  };
  return detail::widened(kFloat16, compute, self, other);
}
Tensor copysign(const Tensor& self, Scalar other) {
  return copysign(self, operand_of(other, self));
}

Tensor float_power(const Tensor& self, const Tensor& exponent) {
  return pow(to(self, kFloat64), to(exponent, kFloat64));
}
Tensor float_power(const Tensor& self, Scalar exponent) {
  return pow(to(self, kFloat64), exponent);
}
Tensor float_power(Scalar self, const Tensor& exponent) {
  return pow(self, to(exponent, kFloat64));
}

}  // namespace halfgrad
