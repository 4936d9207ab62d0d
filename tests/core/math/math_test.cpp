#include <gtest/gtest.h>
#include <halfgrad/core/math/math.h>
#include <halfgrad/tests/core/numbers/special_floats.h>
#include <halfgrad/tests/thorough.h>

#include <bit>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace halfgrad {
namespace {

using FloatPack = Pack<float>;

constexpr float kTiny = std::numeric_limits<float>::denorm_min();
constexpr float kLargestFloat = std::numeric_limits<float>::max();

/// Returns the error in units in the last place of `expected`, for `digits` binary digits. Infinite
/// for a wrong sign of zero, and if only one value is NaN or infinite.
template <class Real>
Real ulps(Real expected, Real actual, int digits, int min_exponent) {
  if (std::isnan(expected) || std::isnan(actual)) {
    return std::isnan(expected) == std::isnan(actual) ? 0 : INFINITY;
  }
  if (expected == actual) return std::signbit(expected) == std::signbit(actual) ? 0 : INFINITY;
  if (std::signbit(expected) != std::signbit(actual) || std::isinf(expected)) return INFINITY;
  const int exponent = expected == 0 ? min_exponent : std::max(std::ilogb(expected), min_exponent);
  return std::fabs(expected - actual) / std::ldexp(Real(1), exponent + 1 - digits);
}

double float_ulps(double expected, float actual) {
  if (std::isinf(actual) && std::isinf(static_cast<float>(expected))) return 0;
  return ulps<double>(expected, actual, 24, -126);
}

struct Function {
  std::string name;
  std::function<FloatPack(FloatPack)> pack;
  std::function<double(double)> reference;  // from the C library in double
  double max_ulps;                          // 0.5 means correctly rounded
};

/// Every function of one argument on Pack<float>, with its promised accuracy.
const std::vector<Function>& functions() {
  static const std::vector<Function> all = {
      {"exp", [](FloatPack x) { return math::exp(x); }, [](double x) { return std::exp(x); }, 1},
      {"expm1", [](FloatPack x) { return math::expm1(x); }, [](double x) { return std::expm1(x); },
       1.5},
      {"log", [](FloatPack x) { return math::log(x); }, [](double x) { return std::log(x); }, 1},
      {"log1p", [](FloatPack x) { return math::log1p(x); }, [](double x) { return std::log1p(x); },
       1.5},
      {"sin", [](FloatPack x) { return math::sin(x); }, [](double x) { return std::sin(x); }, 0.6},
      {"cos", [](FloatPack x) { return math::cos(x); }, [](double x) { return std::cos(x); }, 0.6},
      {"tanh", [](FloatPack x) { return math::tanh(x); }, [](double x) { return std::tanh(x); },
       1.5},
      {"erf", [](FloatPack x) { return math::erf(x); }, [](double x) { return std::erf(x); }, 1.5},
      {"exp2", [](FloatPack x) { return math::exp2(x); }, [](double x) { return std::exp2(x); },
       0.6},
      {"log2", [](FloatPack x) { return math::log2(x); }, [](double x) { return std::log2(x); },
       0.6},
      {"log10", [](FloatPack x) { return math::log10(x); }, [](double x) { return std::log10(x); },
       0.6},
      {"tan", [](FloatPack x) { return math::tan(x); }, [](double x) { return std::tan(x); }, 0.6},
      {"sqrt", [](FloatPack x) { return math::sqrt(x); }, [](double x) { return std::sqrt(x); },
       0.5},
      {"rsqrt", [](FloatPack x) { return math::rsqrt(x); },
       [](double x) { return 1 / std::sqrt(x); }, 1.5},
      {"floor", [](FloatPack x) { return math::floor(x); }, [](double x) { return std::floor(x); },
       0},
      {"trunc", [](FloatPack x) { return math::trunc(x); }, [](double x) { return std::trunc(x); },
       0},
      {"abs", [](FloatPack x) { return math::abs(x); }, [](double x) { return std::fabs(x); }, 0},
  };
  return all;
}

/// Checks the error of every lane of a pack.
void check(const Function& function, const float (&x)[FloatPack::size]) {
  float y[FloatPack::size];
  function.pack(FloatPack::load(x)).store(y);
  for (int i = 0; i < FloatPack::size; ++i) {
    const double error = float_ulps(function.reference(x[i]), y[i]);
    ASSERT_LE(error, function.max_ulps) << function.name << "(" << x[i] << ") = " << y[i];
  }
}

TEST(Math, FloatPacksAreAccurateOverAllFloats) {
  // A prime: about a million floats of all exponents, or 70,000.
  constexpr std::uint32_t kStride = kThorough ? 3989 : 60013;
  for (const Function& function : functions()) {
    std::uint32_t bits = 0;
    for (std::uint64_t count = 0; count < (std::uint64_t{1} << 32) / kStride;
         count += FloatPack::size) {
      float x[FloatPack::size];
      for (float& value : x) value = std::bit_cast<float>(bits += kStride);
      ASSERT_NO_FATAL_FAILURE(check(function, x));
    }
  }
}

/// Arguments at which an algorithm switches, a result overflows, or reduction is hardest.
TEST(Math, FloatPacksAreAccurateAroundSpecialArguments) {
  const float centers[] = {0x1p-126f, 1e-7f,       0.34657359f, 0.65f,      0.70710678f, 0.95f,
                           1,         1.41421356f, 1.5707963f,  3.1415927f, 4,           10,
                           18,        87.33654f,   88.72284f,   89,         103.97208f,  104,
                           6.28e3f,   1e4f,        1e7f,        0x1p24f};
  for (const Function& function : functions()) {
    for (float center : centers) {
      for (int offset = -4096; offset < 4096; offset += FloatPack::size) {
        for (float sign : {1.0f, -1.0f}) {
          float x[FloatPack::size];
          for (int i = 0; i < FloatPack::size; ++i) {
            x[i] = sign * std::bit_cast<float>(std::bit_cast<std::int32_t>(center) + offset + i);
          }
          ASSERT_NO_FATAL_FAILURE(check(function, x));
        }
      }
    }
  }
}

TEST(Math, FloatPacksAtEdgeValues) {
  const std::vector<float> edges = {
      0,     -0.0f,  kTiny, -kTiny, 0x1p-126f,     -0x1p-126f,     1,    -1,  0x1p24f, -0x1p24f,
      65504, -65520, kInf,  -kInf,  kLargestFloat, -kLargestFloat, kNaN, 0.5f};
  for (const Function& function : functions()) {
    for (float edge : edges) {
      float x[FloatPack::size];
      for (float& value : x) value = edge;
      EXPECT_NO_FATAL_FAILURE(check(function, x));
    }
  }
}

TEST(Math, PowIsAccurateAndHasIeeeEdgeValues) {
  std::vector<float> exponents = {0,     -0.0f, 0.5f,  -0.5f,         1,           -1,
                                  2,     3,     -3,    2.5f,          -7.25f,      100,
                                  37.1f, 1e-6f, 1e30f, 0x1p24f,       16777217.0f, kInf,
                                  -kInf, kNaN,  kTiny, kLargestFloat, 8388607,     -8388607};
  std::vector<float> bases = {0,      -0.0f,         1, -1, kInf, -kInf, kNaN, kTiny,
                              -kTiny, kLargestFloat, 2, -2};
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32);
       bits += kThorough ? 300007 : 3000017) {
    bases.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  for (float x = 0.5f; x < 2; x += kThorough ? 0.0007f : 0.007f) bases.push_back(x);
  for (float p : exponents) {
    for (float x : bases) {
      const float y = math::pow(FloatPack(x), FloatPack(p))[0];
      ASSERT_LE(float_ulps(std::pow(double(x), double(p)), y), 0.6)
          << x << " ^ " << p << " = " << y;
    }
  }
}

// Operands of similar and of very different magnitude, and quotients at or close to an integer.
TEST(Math, FmodIsExact) {
  std::vector<float> operands = {0,         -0.0f, kTiny,         3 * kTiny, 1,   3,
                                 0x1p-126f, 0.1f,  kLargestFloat, kInf,      kNaN};
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 31);
       bits += kThorough ? 9000011 : 30000001) {
    operands.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  const auto expect_exact = [](float x, float divisor) {
    const float expected = std::fmod(x, divisor),
                y = math::fmod(FloatPack(x), FloatPack(divisor))[0];
    ASSERT_EQ(float_ulps(expected, y), 0) << x << " by " << divisor << " leaves " << y;
  };
  for (const float divisor : operands) {
    for (const float x : operands) {
      for (const float sign : {1.0f, -1.0f})
        ASSERT_NO_FATAL_FAILURE(expect_exact(sign * x, divisor));
    }
    for (float n = 1; n < 0x1p31f; n *= 1.7f) {
      const float x = std::floor(n) * divisor;
      for (const float near : {std::nextafter(x, 0.0f), x, std::nextafter(x, kInf)}) {
        ASSERT_NO_FATAL_FAILURE(expect_exact(near, -divisor));
      }
    }
  }
  float x[FloatPack::size], y[FloatPack::size];
  for (int i = 0; i < FloatPack::size; ++i) x[i] = i % 2 == 0 ? 7 : 1e30f;
  math::fmod(FloatPack::load(x), FloatPack(3)).store(y);
  for (int i = 0; i < FloatPack::size; ++i)
    EXPECT_EQ(y[i], std::fmod(x[i], 3.0f)) << "beside another";
  EXPECT_EQ(math::fmod(Pack<double>(-7.5), Pack<double>(2))[1], -1.5);
}

TEST(Math, LanesDoNotInfluenceEachOther) {
  const float values[] = {0.3f, -2.7f, 1e-40f, 90, 1e8f, -1e8f, kInf, kNaN, 0, 20, -0.01f, 700};
  for (const Function& function : functions()) {
    for (float value : values) {
      const float alone = function.pack(FloatPack(value))[0];
      for (int lane = 0; lane < FloatPack::size; ++lane) {
        for (float other : values) {
          float x[FloatPack::size];
          for (float& neighbour : x) neighbour = other;
          x[lane] = value;
          const float y = function.pack(FloatPack::load(x))[lane];
          ASSERT_EQ(std::bit_cast<std::uint32_t>(y), std::bit_cast<std::uint32_t>(alone))
              << function.name << "(" << value << ") in lane " << lane << " beside " << other;
        }
      }
    }
  }
}

template <class T>
using Unary = T (*)(T);

struct DoubleFunction {
  std::string name;
  Unary<Pack<double>> pack;
  Unary<double> scalar;
  Unary<long double> reference;
  long double max_ulps;
};

TEST(Math, DoublesAreAccurateAndEqualInScalarsAndPacks) {
  const DoubleFunction all[] = {
      {"exp", math::exp, math::exp<double>, std::exp, 1},
      {"expm1", math::expm1, math::expm1<double>, std::expm1, 1},
      {"log", math::log, math::log<double>, std::log, 1},
      {"log1p", math::log1p, math::log1p<double>, std::log1p, 1},
      {"sin", math::sin, math::sin<double>, std::sin, 1},
      {"cos", math::cos, math::cos<double>, std::cos, 1},
      {"tanh", math::tanh, math::tanh<double>, std::tanh, 2.5},
      {"erf", math::erf, math::erf<double>, std::erf, 1},
      {"exp2", math::exp2, math::exp2<double>, std::exp2, 1},
      {"log2", math::log2, math::log2<double>, std::log2, 1},
      {"log10", math::log10, math::log10<double>, std::log10, 2},
      {"tan", math::tan, math::tan<double>, std::tan, 1},
      {"sqrt", math::sqrt, math::sqrt<double>, std::sqrt, 0.501L},
      {"floor", math::floor, math::floor<double>, std::floor, 0},
  };
  for (const DoubleFunction& function : all) {
    for (double x = -30; x < 30; x += 0.0037) {
      const double y = function.scalar(x);
      const double z = function.pack(Pack<double>(x))[Pack<double>::size - 1];
      ASSERT_EQ(std::bit_cast<std::uint64_t>(y) << 1, std::bit_cast<std::uint64_t>(z) << 1)
          << function.name << "(" << x << ")";
      ASSERT_LE(ulps<long double>(function.reference(x), y, 53, -1022), function.max_ulps)
          << function.name << "(" << x << ") = " << y;
    }
  }
}

template <class T>
class MathTest : public ::testing::Test {};
using Floating = testing::Types<float, double, Pack<float>, Pack<double>>;
TYPED_TEST_SUITE(MathTest, Floating);

TYPED_TEST(MathTest, MinimumAndMaximumPropagateNaN) {
  using T = TypeParam;
  EXPECT_TRUE(all(math::minimum(T(1), T(2)) == T(1)));
  EXPECT_TRUE(all(math::maximum(T(1), T(2)) == T(2)));
  EXPECT_TRUE(all(math::minimum(T(1), T(-kInf)) == T(-kInf)));
  for (auto [a, b] : {std::pair{T(kNaN), T(1)}, {T(1), T(kNaN)}, {T(kNaN), T(kNaN)}}) {
    EXPECT_TRUE(all(math::isnan(math::minimum(a, b))));
    EXPECT_TRUE(all(math::isnan(math::maximum(a, b))));
  }
}

TYPED_TEST(MathTest, Classification) {
  using T = TypeParam;
  struct {
    double value;
    bool nan, inf, finite;
  } const cases[] = {{0, false, false, true},
                     {-3, false, false, true},
                     {kLargestFloat, false, false, true},
                     {math::kInfinity, false, true, false},
                     {-math::kInfinity, false, true, false},
                     {math::kNaN, true, false, false}};
  for (const auto& expected : cases) {
    const T x = T(expected.value);
    EXPECT_EQ(all(math::isnan(x)), expected.nan) << expected.value;
    EXPECT_EQ(all(math::isinf(x)), expected.inf) << expected.value;
    EXPECT_EQ(all(math::isfinite(x)), expected.finite) << expected.value;
  }
}

TYPED_TEST(MathTest, CopysignTakesTheSignOfZero) {
  using T = TypeParam;
  EXPECT_TRUE(all(math::copysign(T(2), T(-0.0)) == T(-2)));
  EXPECT_TRUE(all(math::copysign(T(-2), T(0.0)) == T(2)));
  EXPECT_TRUE(all(1 / math::copysign(T(0), T(-1)) == T(-kInf)));
}

TEST(Math, AbsoluteValueOfIntegers) {
  EXPECT_EQ(math::abs(std::int64_t{-5}), 5);
  EXPECT_EQ(math::abs(Pack<std::int64_t>(-5))[1], 5);
  EXPECT_EQ(math::maximum(Pack<std::int64_t>(-5), Pack<std::int64_t>(3))[1], 3);
}

}  // namespace
}  // namespace halfgrad
