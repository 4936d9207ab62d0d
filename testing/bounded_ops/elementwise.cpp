#include <cmath>
#include <numbers>
#include <utility>

#include <halfgrad/autograd/ops/shared/gelu_reference.h>
#include <halfgrad/autograd/ops/shared/logistic.h>
#include <halfgrad/testing/bounded_ops/recorded.h>

/// Elementwise arithmetic and functions.
namespace halfgrad::testing {
namespace {

using detail::Inputs;
using detail::mapped;
using detail::Recorder;
using detail::zipped;

/// The product that `other` is added to, if the accumulator of its sum may begin with `other`.
bool may_start(const BoundedArray& product, const BoundedArray& other) {
  return Recorder::factors(product) != nullptr && expands_to(other.sizes(), product.sizes());
}

}  // namespace

BoundedArray constant(const BoundedArray& like, double value) {
  const AnyArithmetic& a = like.math();
  return {like.arithmetic(), {}, {std::isfinite(value) ? a.constant(value) : a.number(value)}};
}

BoundedArray zeros_like(const BoundedArray& x) {
  return {x.arithmetic(), x.sizes(), Elements(x.elements().size(), x.math().number(0))};
}

BoundedArray operator+(const BoundedArray& a, const BoundedArray& b) {
  if (may_start(a, b)) return detail::product_from(expand(b, a.sizes()), a);
  if (may_start(b, a)) return detail::product_from(expand(a, b.sizes()), b);
  return zipped(
      "add", a, b,
      [](const AnyArithmetic& math, const Bounded& x, const Bounded& y) { return math.add(x, y); },
      [](const Inputs&, const BoundedArray&, const BoundedArray& dy) {
        return Inputs{dy, dy};
      });
}

BoundedArray operator-(const BoundedArray& a, const BoundedArray& b) {
  if (may_start(a, b)) return a + -b;
  return zipped(
      "sub", a, b,
      [](const AnyArithmetic& math, const Bounded& x, const Bounded& y) { return math.sub(x, y); },
      [](const Inputs&, const BoundedArray&, const BoundedArray& dy) {
        return Inputs{dy, -dy};
      });
}

BoundedArray operator*(const BoundedArray& a, const BoundedArray& b) {
  return zipped(
      "mul", a, b,
      [](const AnyArithmetic& math, const Bounded& x, const Bounded& y) { return math.mul(x, y); },
      [](const Inputs& in, const BoundedArray&, const BoundedArray& dy) {
        return Inputs{dy * in[1], dy * in[0]};
      });
}

BoundedArray operator/(const BoundedArray& a, const BoundedArray& b) {
  return zipped(
      "div", a, b,
      [](const AnyArithmetic& math, const Bounded& x, const Bounded& y) { return math.div(x, y); },
      [](const Inputs& in, const BoundedArray& y, const BoundedArray& dy) {
        return Inputs{dy / in[1], -(dy * y) / in[1]};
      });
}

BoundedArray operator+(const BoundedArray& a, double b) { return a + constant(a, b); }
BoundedArray operator-(const BoundedArray& a, double b) { return a - constant(a, b); }
BoundedArray operator*(const BoundedArray& a, double b) { return a * constant(a, b); }
BoundedArray operator/(const BoundedArray& a, double b) { return a / constant(a, b); }
BoundedArray operator+(double a, const BoundedArray& b) { return constant(b, a) + b; }
BoundedArray operator-(double a, const BoundedArray& b) { return constant(b, a) - b; }
BoundedArray operator*(double a, const BoundedArray& b) { return constant(b, a) * b; }
BoundedArray operator/(double a, const BoundedArray& b) { return constant(b, a) / b; }

BoundedArray operator-(const BoundedArray& x) {
  return mapped(
      x, [](const AnyArithmetic& a, const Bounded& e) { return a.neg(e); },
      [](const Inputs&, const BoundedArray&, const BoundedArray& dy) { return Inputs{-dy}; });
}

BoundedArray abs(const BoundedArray& x) {
  return mapped(
      x, [](const AnyArithmetic& a, const Bounded& e) { return a.abs(e); },
      [](const Inputs& in, const BoundedArray&, const BoundedArray& dy) {
        return Inputs{where(in[0] < 0, -dy, where(in[0] > 0, dy, zeros_like(dy)))};
      });
}

BoundedArray exp(const BoundedArray& x) {
  return mapped(
      x, [](const AnyArithmetic& a, const Bounded& e) { return a.exp_by_exp2(e); },
      [](const Inputs&, const BoundedArray& y, const BoundedArray& dy) { return Inputs{dy * y}; });
}

BoundedArray log(const BoundedArray& x) {
  return mapped(
      x, [](const AnyArithmetic& a, const Bounded& e) { return a.log(e); },
      [](const Inputs& in, const BoundedArray&, const BoundedArray& dy) {
        return Inputs{dy / in[0]};
      });
}

BoundedArray sqrt(const BoundedArray& x) {
  return mapped(
      x, [](const AnyArithmetic& a, const Bounded& e) { return a.sqrt(e); },
      [](const Inputs&, const BoundedArray& y, const BoundedArray& dy) {
        return Inputs{dy / (2 * y)};
      });
}

BoundedArray rsqrt(const BoundedArray& x) {
  return mapped(
      x, [](const AnyArithmetic& a, const Bounded& e) { return a.rsqrt(e); },
      [](const Inputs&, const BoundedArray& y, const BoundedArray& dy) {
        return Inputs{-0.5 * dy * (y * y * y)};
      });
}

BoundedArray tanh(const BoundedArray& x) {
  return mapped(
      x, [](const AnyArithmetic& a, const Bounded& e) { return a.tanh(e); },
      [](const Inputs&, const BoundedArray& y, const BoundedArray& dy) {
        return Inputs{dy * (1 - y * y)};
      });
}

BoundedArray erf(const BoundedArray& x) {
  return mapped(
      x, [](const AnyArithmetic& a, const Bounded& e) { return a.erf(e); },
      [](const Inputs& in, const BoundedArray&, const BoundedArray& dy) {
        return Inputs{dy * (2 * std::numbers::inv_sqrtpi * exp(-(in[0] * in[0])))};
      });
}

BoundedArray sigmoid(const BoundedArray& x) {
  return mapped(
      x,
      [](const AnyArithmetic& a, const Bounded& e) {
        return halfgrad::detail::logistic_reference(a, e);
      },
      [](const Inputs&, const BoundedArray& y, const BoundedArray& dy) {
        return Inputs{dy * (y * (1 - y))};
      });
}

BoundedArray silu(const BoundedArray& x) { return x * sigmoid(x); }

BoundedArray relu(const BoundedArray& x) {
  return mapped(
      x, [](const AnyArithmetic& a, const Bounded& e) { return a.at_least(e, 0); },
      [](const Inputs& in, const BoundedArray&, const BoundedArray& dy) {
        return Inputs{where(in[0] <= 0, zeros_like(dy), dy)};
      });
}

// dPhi/dx = e^(-x^2 / 2) / sqrt(2 pi)
BoundedArray normal_cdf(const BoundedArray& x) {
  return mapped(
      x,
      [](const AnyArithmetic& a, const Bounded& e) {
        return halfgrad::detail::normal_cdf_reference(a, e);
      },
      [](const Inputs& in, const BoundedArray&, const BoundedArray& dy) {
        constexpr double kHeight = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
        return Inputs{dy * (kHeight * exp(-0.5 * (in[0] * in[0])))};
      });
}

// With t = tanh(u):  dx = dy ((1 + t) / 2 + x (1 - t^2) / 2 du/dx)
BoundedArray gelu(const BoundedArray& x, bool tanh_approximation) {
  using halfgrad::detail::kGeluCubic;
  using halfgrad::detail::kGeluScale;
  if (!tanh_approximation) return x * normal_cdf(x);
  return mapped(
      x,
      [](const AnyArithmetic& a, const Bounded& e) {
        return halfgrad::detail::gelu_tanh_reference(a, e);
      },
      [](const Inputs& in, const BoundedArray&, const BoundedArray& dy) {
        const BoundedArray z = clamp(in[0], -10, 10), z2 = z * z;
        const BoundedArray t = tanh(kGeluScale * z * (1 + kGeluCubic * z2));
        const BoundedArray du = kGeluScale * (1 + 3 * kGeluCubic * z2);
        return Inputs{dy * (0.5 * (1 + t) + 0.5 * z * (1 - t * t) * du)};
      });
}

BoundedArray square(const BoundedArray& x) { return x * x; }

BoundedArray pow(const BoundedArray& x, int exponent) {
  if (exponent < 0) return 1 / pow(x, -exponent);
  if (exponent == 0) return zeros_like(x) + 1;
  if (exponent == 1) return x;
  // By halves, for Adam's 40,000th step. The bound is that of one product after the other.
  const BoundedArray half = pow(x, exponent / 2);
  return exponent % 2 == 0 ? half * half : half * half * x;
}

BoundedArray either(const BoundedArray& best, const BoundedArray& usual) {
  return zipped(
      "either", best, usual,
      [](const AnyArithmetic& a, const Bounded& x, const Bounded& y) { return a.either(x, y); },
      [](const Inputs&, const BoundedArray&, const BoundedArray& dy) {
        return Inputs{dy, {}};  // the value is that of the first
      });
}

BoundedArray stored(const BoundedArray& x) {
  return mapped(
      x, [](const AnyArithmetic& a, const Bounded& e) { return a.stored(e); },
      [](const Inputs&, const BoundedArray&, const BoundedArray& dy) { return Inputs{dy}; });
}

}  // namespace halfgrad::testing
