#include <gtest/gtest.h>
#include <halfgrad/core/math/dual.h>

#include <cmath>
#include <string>
#include <vector>

namespace halfgrad {
namespace {

using Real = Dual<double>;
using Second = Dual<Real>;

constexpr double kRoundoff = 0x1p-53;
constexpr double kTwoOverSqrtPi = 1.1283791670955126;

struct Rule {
  std::string name;
  Second (*value)(Second);
  double (*slope)(double);
  double (*curvature)(double);
  std::vector<double> points;
};

/// Each function with its first and second derivative from a textbook.
const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = {
      {"exp",
       math::exp,
       [](double x) { return std::exp(x); },
       [](double x) { return std::exp(x); },
       {-2, 0, 1.5}},
      {"expm1",
       math::expm1,
       [](double x) { return std::exp(x); },
       [](double x) { return std::exp(x); },
       {-2, 0, 1e-9}},
      {"log",
       math::log,
       [](double x) { return 1 / x; },
       [](double x) { return -1 / (x * x); },
       {0.1, 1, 7}},
      {"log1p",
       math::log1p,
       [](double x) { return 1 / (1 + x); },
       [](double x) { return -1 / ((1 + x) * (1 + x)); },
       {-0.5, 0, 7}},
      {"sqrt",
       math::sqrt,
       [](double x) { return 0.5 / std::sqrt(x); },
       [](double x) { return -0.25 / (x * std::sqrt(x)); },
       {0.1, 4}},
      {"rsqrt",
       math::rsqrt,
       [](double x) { return -0.5 * std::pow(x, -1.5); },
       [](double x) { return 0.75 * std::pow(x, -2.5); },
       {0.1, 4}},
      {"sin",
       math::sin,
       [](double x) { return std::cos(x); },
       [](double x) { return -std::sin(x); },
       {-1, 0, 2}},
      {"cos",
       math::cos,
       [](double x) { return -std::sin(x); },
       [](double x) { return -std::cos(x); },
       {-1, 0, 2}},
      {"tan",
       math::tan,
       [](double x) { return 1 / (std::cos(x) * std::cos(x)); },
       [](double x) { return 2 * std::tan(x) / (std::cos(x) * std::cos(x)); },
       {-1, 0, 0.4}},
      {"exp2",
       math::exp2,
       [](double x) { return std::log(2) * std::exp2(x); },
       [](double x) { return std::log(2) * std::log(2) * std::exp2(x); },
       {-2, 0, 1.5}},
      {"log2",
       math::log2,
       [](double x) { return 1 / (x * std::log(2)); },
       [](double x) { return -1 / (x * x * std::log(2)); },
       {0.1, 1, 7}},
      {"log10",
       math::log10,
       [](double x) { return 1 / (x * std::log(10)); },
       [](double x) { return -1 / (x * x * std::log(10)); },
       {0.1, 1, 7}},
      {"fmod(7.5, x) x",
       [](Second x) { return math::fmod(Second(7.5), x) * x; },
       [](double x) { return 7.5 - 2 * x * std::trunc(7.5 / x); },
       [](double x) { return -2 * std::trunc(7.5 / x); },
       {-2, 0.7, 4}},
      {"tanh",
       math::tanh,
       [](double x) { return 1 / (std::cosh(x) * std::cosh(x)); },
       [](double x) { return -2 * std::tanh(x) / (std::cosh(x) * std::cosh(x)); },
       {-1, 0, 0.4}},
      {"erf",
       math::erf,
       [](double x) { return kTwoOverSqrtPi * std::exp(-x * x); },
       [](double x) { return -2 * x * kTwoOverSqrtPi * std::exp(-x * x); },
       {-1, 0, 0.4}},
      {"abs",
       math::abs,
       [](double x) { return double(x > 0) - double(x < 0); },
       [](double) { return 0.0; },
       {-3, 0, 2}},
      {"floor", math::floor, [](double) { return 0.0; }, [](double) { return 0.0; }, {-3.5, 2}},
      {"trunc", math::trunc, [](double) { return 0.0; }, [](double) { return 0.0; }, {-3.5, 2.5}},
      {"x^3",
       [](Second x) { return math::pow(x, Second(3)); },
       [](double x) { return 3 * x * x; },
       [](double x) { return 6 * x; },
       {-2, 0, 1.5}},
      {"2^x",
       [](Second x) { return math::pow(Second(2), x); },
       [](double x) { return std::log(2) * std::exp2(x); },
       [](double x) { return std::log(2) * std::log(2) * std::exp2(x); },
       {-2, 0, 1.5}},
      {"x^x",
       [](Second x) { return math::pow(x, x); },
       [](double x) { return std::pow(x, x) * (std::log(x) + 1); },
       [](double x) { return std::pow(x, x) * ((std::log(x) + 1) * (std::log(x) + 1) + 1 / x); },
       {0.5, 2}},
      {"1 / x",
       [](Second x) { return 1 / x; },
       [](double x) { return -1 / (x * x); },
       [](double x) { return 2 / (x * x * x); },
       {-2, 0.5}},
      {"x (x - 2) / (x + 3) - x",
       [](Second x) {
         Second y = x;
         y *= x - 2;
         y /= x + 3;
         return y -= x;
       },
       [](double x) { return (x * x + 6 * x - 6) / ((x + 3) * (x + 3)) - 1; },
       [](double x) { return 30 / std::pow(x + 3, 3); },
       {-2, 0.5, 4}},
      {"max(x, 1) x",
       [](Second x) { return math::maximum(x, Second(1)) * x; },
       [](double x) { return x > 1 ? 2 * x : 1; },
       [](double x) { return x > 1 ? 2.0 : 0.0; },
       {-2, 0.5, 4}},
      {"copysign(x, -x)",
       [](Second x) { return math::copysign(x, -x); },
       [](double) { return -1.0; },
       [](double) { return 0.0; },
       {-2, 3}},
  };
  return all;
}

TEST(Dual, DerivativesMatchTheTextbook) {
  for (const Rule& rule : rules()) {
    for (double x : rule.points) {
      const Second y = rule.value(Second(Real(x, 1), Real(1)));
      const auto expect_close = [&](double actual, double expected) {
        EXPECT_NEAR(actual, expected, 32 * kRoundoff * std::max(1.0, std::fabs(expected)))
            << rule.name << " at " << x;
      };
      expect_close(y.value.derivative, rule.slope(x));
      expect_close(y.derivative.value, rule.slope(x));
      expect_close(y.derivative.derivative, rule.curvature(x));
    }
  }
}

TEST(Dual, SlopesMatchCentralDifferences) {
  constexpr double h = 6e-6;  // about the cube root of the roundoff, where both errors are equal
  for (const Rule& rule : rules()) {
    for (double x : rule.points) {
      if (rule.name == "abs" || rule.name == "floor") continue;
      const auto at = [&](double point) { return rule.value(Second(Real(point))).value.value; };
      const double scale = std::max(1.0, std::fabs(at(x)));
      const double slope = rule.value(Second(Real(x, 1))).value.derivative;
      // Truncation error h^2 f''' / 6, where |f'''| <= 6000 in this list, plus 2 roundoffs over 2h.
      const double tolerance = h * h * 6000 / 6 + 2 * kRoundoff * scale / h;
      EXPECT_NEAR(slope, (at(x + h) - at(x - h)) / (2 * h), tolerance) << rule.name << " at " << x;
    }
  }
}

TEST(Dual, ThirdDerivative) {
  const Dual<Second> x(Second(Real(2, 1), Real(1)), Second(1));
  const auto y = x * x * x * x;
  EXPECT_EQ(y.derivative.derivative.derivative, 24 * 2);
}

TEST(Dual, ConstantsAndComparisonsUseTheValue) {
  const Real x(3, 5);
  EXPECT_TRUE(x > 2 && x >= 3 && x < 4 && x <= 3 && x == 3 && x != 2);
  EXPECT_EQ((2 + x * 0.5).derivative, 2.5);
  EXPECT_EQ(Dual<float>(0.1).value, 0.1f);
  EXPECT_EQ(Dual<float>(0.1).derivative, 0);
  EXPECT_EQ(select(x > 2, x, Real(1, 7)).derivative, 5);
  EXPECT_EQ(select(x < 2, x, Real(1, 7)).derivative, 7);
  EXPECT_TRUE(math::isnan(Real(math::kNaN, 0)) && math::isinf(Real(-math::kInfinity, 0)));
  EXPECT_TRUE(math::isfinite(Real(1, math::kNaN)));
  static_assert(std::is_same_v<scalar_t<Dual<Dual<Pack<float>>>>, float>);
}

TEST(Dual, ConstantsAddNothingBesideAnInfiniteFactor) {
  const Real pole(math::kInfinity, 1);
  EXPECT_EQ((2 * pole).derivative, 2);
  EXPECT_EQ((pole * 2).derivative, 2);
  EXPECT_EQ((pole / 2).derivative, 0.5);
  // The slope of x^2 is 0 at 0, but not constant.
  const Second x(Real(0, 1), Real(1));
  EXPECT_EQ((x * x * 3).derivative.derivative, 6);
}

TEST(Dual, PowAtTheEdgesOfItsDomain) {
  const struct {
    Real x, p;
    double slope;
  } cases[] = {
      {{0, 1}, {2, 0}, 0},                  // 2 * 0^1
      {{0, 1}, {0, 0}, 0},                  // x^0 is 1 everywhere
      {{0, 1}, {1, 0}, 1},                  // x
      {{0, 0}, {2, 1}, 0},                  // 0^p is 0 for p > 0
      {{-2, 1}, {3, 0}, 12},                // log(-2) must not spoil a constant exponent
      {{0, 1}, {0.5, 0}, math::kInfinity},  // the square root's vertical tangent
      {{0, 1}, {-2, 0}, -math::kInfinity}   // a pole
  };
  for (const auto& c : cases) {
    EXPECT_EQ(math::pow(c.x, c.p).derivative, c.slope) << c.x.value << " ^ " << c.p.value;
  }
  EXPECT_TRUE(std::isnan(math::pow(Real(-2, 0), Real(3, 1)).derivative));
}

/// A formula in the style of an op.
template <class T>
T gelu(T x) {
  return x * T(0.5) * (T(1) + math::erf(x * T(0.7071067811865476)));
}

TEST(Dual, PacksOfFloatsFollowTheSameFormula) {
  float x[Pack<float>::size];
  for (int i = 0; i < Pack<float>::size; ++i) x[i] = -2.0f + 0.6f * static_cast<float>(i);
  using PackDual = Dual<Dual<Pack<float>>>;
  const PackDual y = gelu(PackDual({Pack<float>::load(x), 1}, 1));
  for (int i = 0; i < Pack<float>::size; ++i) {
    const Second expected = gelu(Second(Real(x[i], 1), 1));
    EXPECT_NEAR(y.value.derivative[i], expected.value.derivative, 0x1p-24 * 8) << x[i];
    EXPECT_NEAR(y.derivative.derivative[i], expected.derivative.derivative, 0x1p-24 * 8) << x[i];
  }
}

}  // namespace
}  // namespace halfgrad
