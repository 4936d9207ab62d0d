#include <halfgrad/autograd/composed/inverse.h>

#include <numbers>
#include <vector>

#include <halfgrad/autograd/composed/moving.h>
#include <halfgrad/autograd/composed/pointwise.h>
#include <halfgrad/autograd/composed/widened.h>
#include <halfgrad/autograd/composed/with_slope.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/function.h>

// Each struct states a value and its derivative. The value is computed outside the graph, so that
// its steps need no gradients of their own: they would be NaN at the ends of the domain.
namespace halfgrad {
namespace {

using autograd::AutogradContext;
using autograd::variable_list;
constexpr double kPi = std::numbers::pi;

// 1 - x^2 without cancellation near 1 and -1
Tensor one_minus_square(const Tensor& x) { return (1 - x) * (1 + x); }

// atan(z) for z in [0, 1], from an estimate e:
//
//     atan(z) = e + atan(d),  d = (z - tan(e)) / (1 + z tan(e))
//
// e = z (pi / 4 + 0.273 (1 - z)) is at most 0.0038 off, so four terms of the series of atan(d)
// are exact to 2^-70.
Tensor small_arc_tangent(const Tensor& z) {
  const Tensor e = z * (kPi / 4 + 0.273 * (1 - z));
  const Tensor t = tan(e);
  const Tensor d = (z - t) / (1 + z * t), d2 = square(d);
  return e + d * (1 - d2 * (1.0 / 3 - d2 * (1.0 / 5 - d2 / 7)));
}

// atan(x) = pi / 2 - atan(1 / x) for x > 1; the result has the sign of x, also of -0
Tensor arc_tangent(const Tensor& x) {
  const Tensor magnitude = abs(x), is_large = magnitude > 1;
  const Tensor a = small_arc_tangent(where(is_large, 1 / magnitude, magnitude));
  return copysign(where(is_large, kPi / 2 - a, a), x);
}

// asin(x) = atan(x / sqrt(1 - x^2)),  dy/dx = 1 / sqrt(1 - x^2)
struct Asin {
  static Tensor value(const Tensor& x) { return arc_tangent(x * rsqrt(one_minus_square(x))); }
  static Tensor slope(const Tensor& x) { return rsqrt(one_minus_square(x)); }
};

// acos(x) = 2 atan(sqrt((1 - x) / (1 + x))),  dy/dx = -1 / sqrt(1 - x^2)
struct Acos {
  static Tensor value(const Tensor& x) { return 2 * arc_tangent(sqrt((1 - x) / (1 + x))); }
  static Tensor slope(const Tensor& x) { return -rsqrt(one_minus_square(x)); }
};

// dy/dx = 1 / (1 + x^2)
struct Atan {
  static Tensor value(const Tensor& x) { return arc_tangent(x); }
  static Tensor slope(const Tensor& x) { return 1 / (1 + square(x)); }
};

// asinh(x) = sign(x) log(|x| + sqrt(x^2 + 1)),  dy/dx = 1 / sqrt(x^2 + 1)
// For a = |x| < 1 as log1p(a + a^2 / (1 + sqrt(a^2 + 1))), which is accurate for a small a.
struct Asinh {
  static Tensor value(const Tensor& x) {
    const Tensor a = abs(x), root = hypot(a, ones_like(a));
    const Tensor is_small = a < 1;
    const Tensor near = masked_fill(a, ~is_small, 0);
    const Tensor small = log1p(near + square(near) / (1 + root));
    // log(a / 2 + root / 2) + log 2 does not overflow.
    return copysign(where(is_small, small, log(a * 0.5 + root * 0.5) + std::numbers::ln2), x);
  }
  static Tensor slope(const Tensor& x) { return 1 / hypot(x, ones_like(x)); }
};

// acosh(x) = log(x + sqrt(x^2 - 1)),  dy/dx = 1 / sqrt(x^2 - 1)
// For x < 2 as log1p(t + sqrt(t) sqrt(t + 2)) with t = x - 1, which is accurate for a small t.
struct Acosh {
  static Tensor value(const Tensor& x) {
    const Tensor is_small = x < 2;
    const Tensor t = masked_fill(x, ~is_small, 1) - 1;
    const Tensor root = sqrt(x - 1) * sqrt(x + 1);
    return where(is_small, log1p(t + sqrt(t) * sqrt(t + 2)),
                 log(x * 0.5 + root * 0.5) + std::numbers::ln2);
  }
  static Tensor slope(const Tensor& x) { return rsqrt(x - 1) * rsqrt(x + 1); }
};

// atanh(x) = sign(x) log1p(2 |x| / (1 - |x|)) / 2,  dy/dx = 1 / (1 - x^2)
struct Atanh {
  static Tensor value(const Tensor& x) {
    const Tensor a = abs(x);
    return copysign(0.5 * log1p(2 * a / (1 - a)), x);
  }
  static Tensor slope(const Tensor& x) { return 1 / one_minus_square(x); }
};

// a = atan2(y, x),  da/dy = x / (x^2 + y^2),  da/dx = -y / (x^2 + y^2)
struct Angle : autograd::Function<Angle> {
  static Tensor forward(AutogradContext* context, const Tensor& y, const Tensor& x) {
    context->save_for_backward({y, x});
    // Two infinities count as (1, 1) with their signs; the quotient of two zeros is y.
    const Tensor both = isinf(y) & isinf(x);
    const Tensor quotient =
        where(both, copysign(ones_like(y), y), y) / where(both, copysign(ones_like(x), x), x);
    const Tensor a = arc_tangent(where((y == 0) & (x == 0), abs(y), abs(quotient)));
    return copysign(where(signbit(x), kPi - a, a), y);
  }
  static variable_list backward(AutogradContext* context, const variable_list& dy) {
    const variable_list saved = context->get_saved_variables();
    const Tensor& y = saved[0];
    const Tensor& x = saved[1];
    const Tensor length = hypot(y, x);
    const Tensor slope = dy[0] / masked_fill(length, length == 0, 1);
    return {slope * (x / masked_fill(length, length == 0, 1)),
            slope * (-y / masked_fill(length, length == 0, 1))};
  }
};

}  // namespace

Tensor asin(const Tensor& self) {
  return detail::with_slope<Asin>("asin", Precision::wide_range, self);
}
Tensor acos(const Tensor& self) {
  return detail::with_slope<Acos>("acos", Precision::wide_range, self);
}
Tensor atan(const Tensor& self) { return detail::with_slope<Atan>("atan", Precision::any, self); }
Tensor asinh(const Tensor& self) {
  return detail::with_slope<Asinh>("asinh", Precision::any, self);
}
Tensor acosh(const Tensor& self) {
  return detail::with_slope<Acosh>("acosh", Precision::any, self);
}
Tensor atanh(const Tensor& self) {
  return detail::with_slope<Atanh>("atanh", Precision::any, self);
}

Tensor atan2(const Tensor& self, const Tensor& other) {
  const auto compute = [](const Tensor& y, const Tensor& x) {
    const std::vector<Tensor> both = broadcast_tensors({y, x});
    return Angle::apply(both[0], both[1]);
  };
  return detail::widened("atan2", Precision::widest_operand, kFloat64, compute, self, other);
}

}  // namespace halfgrad
