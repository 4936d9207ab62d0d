#include <halfgrad/autograd/composed/special.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include <halfgrad/autograd/composed/pointwise.h>
#include <halfgrad/autograd/composed/widened.h>
#include <halfgrad/autograd/composed/with_slope.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/function.h>
#include <halfgrad/core/fail.h>

// Values are computed in float64, outside the graph; each function states its derivative.
namespace halfgrad {
namespace {

using autograd::AutogradContext;
using autograd::variable_list;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const double kTwoBySqrtPi = 2 / std::sqrt(std::numbers::pi);

// c_0 / 2 + c_1 T_1(x) + c_2 T_2(x) + ... of Chebyshev polynomials T_i, by Clenshaw's recurrence
template <std::size_t N>
Tensor chebyshev(const std::array<double, N>& c, const Tensor& x) {
  Tensor next = zeros_like(x), current = zeros_like(x);
  const Tensor twice = 2 * x;
  for (std::size_t i = N; i-- > 1;) {
    Tensor previous = twice * current - next + c[i];
    next = std::exchange(current, std::move(previous));
  }
  return x * current - next + c[0] / 2;
}

// erfc(z) = t e^(g(t) - z^2) with t = 2 / (2 + z), for z >= 0.5. The coefficients are the first 24
// of a Chebyshev series that interpolates g at 60 nodes of 0 <= t <= 0.8, computed in 40 digits.
Tensor erfc_tail(const Tensor& z) {
  static constexpr std::array c{
      -1.56637414544812002,     0.505894793317340636,     0.0201653322957004121,
      -0.00415078427048371421,  -0.0006929393033131829,   0.0000806130444809016677,
      0.000025850999510766173,  -2.45324136193665395e-6,  -1.06656289490565165e-6,
      1.0956136201272647e-7,    4.61828372142292541e-8,   -6.30508913736966685e-9,
      -1.9633309872353595e-9,   3.9793711163649333e-10,   7.35971208153866684e-11,
      -2.46195825037721738e-11, -1.76964774868244394e-12, 1.38100808096062135e-12,
      -4.60020661796302674e-14, -6.38048404655209898e-14, 9.9377184182455142e-15,
      1.85695834721049922e-15,  -7.70795638593337152e-16, 3.16213512962092962e-17};
  const Tensor t = 2 / (2 + z);
  // z^2 = coarse^2 + (z - coarse) (z + coarse); the square of a multiple of 1 / 16 is exact.
  const Tensor coarse = round(z * 16) / 16;
  const Tensor rest = (z - coarse) * (z + coarse);
  return t * exp(chebyshev(c, 2.5 * t - 1) - rest) * exp(-square(coarse));
}

// dy/dx = -2 / sqrt(pi) e^(-x^2)
struct Erfc {
  static Tensor value(const Tensor& x) {
    const Tensor z = clamp_max(abs(x), 30);  // erfc(30) underflows
    const Tensor tail = erfc_tail(z);
    return where(z < 0.5, 1 - erf(x), where(x < 0, 2 - tail, tail));
  }
  static Tensor slope(const Tensor& x) { return -kTwoBySqrtPi * exp(-square(x)); }
};

// Winitzki's estimate of y with erf(y) = a (2008, "A handy approximation for the error function and
// its inverse"), 0.2 % off, and three steps of Halley's method:
//
//     y <- y - u / (1 + y u),  u = (erf(y) - a) / (2 / sqrt(pi) e^(-y^2))
//
// For a > 0.5 erf(y) - a is (1 - a) - erfc(y), without cancellation near 1.
// dx/dy = sqrt(pi) / 2 e^(y^2)
struct Erfinv {
  static Tensor value(const Tensor& x) {
    const Tensor a = abs(x), is_large = a > 0.5;
    const Tensor log_term = 0.5 * log1p(-square(a));
    const Tensor b = 2 / (std::numbers::pi * 0.147) + log_term;
    Tensor y = sqrt(clamp_min(sqrt(square(b) - log_term / (0.147 / 2)) - b, 0));
    for (int i = 0; i < 3; ++i) {
      const Tensor difference = where(is_large, (1 - a) - Erfc::value(y), erf(y) - a);
      const Tensor u = difference / (kTwoBySqrtPi * exp(-square(y)));
      y = y - u / (1 + y * u);
    }
    y = where(a == 1, kInfinity, where(a > 1, kNaN, y));
    return copysign(y, x);
  }
  static Tensor slope(const Tensor& x) { return exp(square(erfinv(x))) / kTwoBySqrtPi; }
};

// B_2, B_4, ...
constexpr std::array<double, 8> kBernoulli{1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                           5.0 / 66, -691.0 / 2730, 7.0 / 6,  -3617.0 / 510};

// log Gamma(x) for x >= 0 by Stirling's series, at z = x + 8 if x < 8:
//
//     log Gamma(z) = (z - 1/2) log z - z + log(2 pi) / 2 + sum of B_2j / (2j (2j - 1) z^(2j - 1))
//     log Gamma(x) = log Gamma(x + 8) - log(x (x + 1) ... (x + 7))
Tensor log_gamma_of_positive(const Tensor& x) {
  const Tensor is_near = x < 8;
  Tensor product = x;
  for (int i = 1; i < 8; ++i) product = product * (x + i);
  const Tensor z = where(is_near, x + 8, x);
  const Tensor inverse = 1 / z, inverse2 = square(inverse);
  Tensor series = zeros_like(x);
  for (std::size_t j = kBernoulli.size(); j > 0; --j) {
    const double n = 2.0 * static_cast<double>(j);
    series = series * inverse2 + kBernoulli[j - 1] / (n * (n - 1));
  }
  const double half_log = 0.5 * std::log(2 * std::numbers::pi);
  const Tensor value = (z - 0.5) * (log(z) - 1) + (half_log - 0.5) + series * inverse;
  return value - where(is_near, log(product), 0);
}

// x less the nearest integer: sin(pi x) is more accurate for it, except for the sign.
Tensor off_integer(const Tensor& x) { return x - round(x); }

// log |Gamma(x)| = log(pi / |sin(pi x)|) - log Gamma(1 - x) for x < 0
struct Lgamma {
  static Tensor value(const Tensor& x) {
    const Tensor is_negative = x < 0;
    const Tensor right = log_gamma_of_positive(where(is_negative, 1 - x, x));
    const Tensor sine = abs(sin(std::numbers::pi * off_integer(x)));
    const Tensor left = std::log(std::numbers::pi) - log(sine) - right;
    const Tensor is_zero = (x == 1) | (x == 2);
    return where(isinf(x), kInfinity, masked_fill(where(is_negative, left, right), is_zero, 0));
  }
  static Tensor slope(const Tensor& x) { return digamma(x); }
};

double factorial(std::int64_t n) { return std::tgamma(static_cast<double>(n) + 1); }

// The derivative number n of digamma for x >= 0, with K = 10 + n and z = x + K:
//
//     n = 0:  log z - 1 / (2 z) - sum of B_2j / (2j z^(2j)) - sum of 1 / (x + k) for k < K
//     else:   (-1)^(n + 1) ((n - 1)! / z^n + n! / (2 z^(n + 1))
//                 + sum of B_2j (2j + n - 1)! / ((2j)! z^(2j + n)) + n! sum of 1 / (x + k)^(n + 1))
Tensor polygamma_of_positive(std::int64_t n, const Tensor& x) {
  const std::int64_t shift = 10 + n;
  const auto power = [](const Tensor& base, std::int64_t exponent) {
    return pow(base, static_cast<double>(exponent));
  };
  const Tensor z = x + shift, inverse = 1 / z, inverse2 = square(inverse);
  Tensor near = zeros_like(x);
  for (std::int64_t k = shift; k-- > 0;) {
    near = near + power(1 / (k == 0 ? x : x + k), n + 1);  // x + 0 would lose the sign of -0
  }
  Tensor series = zeros_like(x);
  for (std::size_t j = kBernoulli.size(); j > 0; --j) {
    const auto two_j = static_cast<std::int64_t>(2 * j);
    series = (series + kBernoulli[j - 1] * factorial(two_j + n - 1) / factorial(two_j)) * inverse2;
  }
  if (n == 0) return log(z) - 0.5 * inverse - series - near;
  const Tensor far = (factorial(n - 1) + 0.5 * factorial(n) * inverse + series) * power(inverse, n);
  const Tensor size = far + factorial(n) * near;
  return n % 2 == 1 ? size : -size;
}

// The derivative number n of cot(x), as a polynomial of c = cot(x), since dc/dx = -(1 + c^2).
Tensor derivative_of_cotangent(std::int64_t n, const Tensor& c) {
  std::vector<double> p{0, 1};
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<double> next(p.size() + 1);
    for (std::size_t k = 1; k < p.size(); ++k) {
      next[k - 1] -= static_cast<double>(k) * p[k];
      next[k + 1] -= static_cast<double>(k) * p[k];
    }
    p = std::move(next);
  }
  Tensor value = zeros_like(c);
  for (std::size_t k = p.size(); k > 0; --k) value = value * c + p[k - 1];
  return value;
}

// With psi_n the derivative number n of digamma:
//
//     psi_n(x) = (-1)^n psi_n(1 - x) - pi (d/dx)^n cot(pi x) for x < 0
struct Polygamma : autograd::Function<Polygamma> {
  static Tensor forward(AutogradContext* context, std::int64_t n, const Tensor& x) {
    context->save_for_backward({x});
    context->saved_data["n"] = n;
    const Tensor is_negative = x < 0;
    const Tensor right = polygamma_of_positive(n, where(is_negative, 1 - x, x));
    const Tensor offset = off_integer(x);
    const Tensor cotangent = 1 / tan(std::numbers::pi * offset);
    const Tensor reflected =
        std::pow(std::numbers::pi, n + 1) * derivative_of_cotangent(n, cotangent);
    const Tensor left = (n % 2 == 1 ? -right : right) - reflected;
    const double at_pole = n == 0 ? kNaN : n % 2 == 1 ? kInfinity : -kInfinity;
    return where(is_negative, where(offset == 0, at_pole, left), right);
  }
  static variable_list backward(AutogradContext* context, const variable_list& dy) {
    const std::int64_t n = context->saved_data["n"].toInt();
    return {Tensor(), dy[0] * polygamma(n + 1, context->get_saved_variables()[0])};
  }
};

}  // namespace

Tensor erfc(const Tensor& self) { return detail::with_slope<Erfc>("erfc", Precision::any, self); }
Tensor erfinv(const Tensor& self) {
  return detail::with_slope<Erfinv>("erfinv", Precision::wide_range, self);
}
Tensor lgamma(const Tensor& self) {
  return detail::with_slope<Lgamma>("lgamma", Precision::any, self);
}
Tensor digamma(const Tensor& self) {
  const auto compute = [](const Tensor& x) { return Polygamma::apply(std::int64_t{0}, x); };
  return detail::widened("digamma", Precision::any, kFloat64, compute, self);
}
Tensor polygamma(std::int64_t n, const Tensor& self) {
  if (n < 0) detail::fail("polygamma", "expected n >= 0, got {}", n);
  const auto compute = [n](const Tensor& x) { return Polygamma::apply(n, x); };
  return detail::widened("polygamma", Precision::any, kFloat64, compute, self);
}

}  // namespace halfgrad
