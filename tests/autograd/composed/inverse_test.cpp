#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <halfgrad/autograd/composed/inverse.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>

// Expected values are those of <cmath>, in double.
namespace halfgrad {
namespace {

using InverseFunctions = TensorsOnDevice;
HALFGRAD_ON_DEVICES(InverseFunctions);

using Function = Tensor (*)(const Tensor&);

struct Case {
  const char* name;
  Function function;
  double (*reference)(double);
  Doubles arguments;
};

const std::vector<Case>& cases() {
  static const Doubles unit{-1,    -0.99999, -0.75, -0.5, -1e-3, -1e-30, -0.0,
                            1e-12, 0.1,      0.5,   0.71, 0.9,   0.999,  1};
  static const Doubles all{-kInf, -1e30, -300,  -3, -1.001, -1, -0.999, -0.4, -1e-5, -0.0,
                           1e-25, 0.01,  0.414, 1,  1.5,    2,  20,     1e10, kInf};
  static const Doubles from_1{1, 1.0001, 1.01, 1.5, 1.99, 2, 2.01, 7, 1e6, 1e30, kInf};
  static const std::vector<Case> list{
      {"asin", &asin, [](double x) { return std::asin(x); }, unit},
      {"acos", &acos, [](double x) { return std::acos(x); }, unit},
      {"atan", &atan, [](double x) { return std::atan(x); }, all},
      {"asinh", &asinh, [](double x) { return std::asinh(x); }, all},
      {"acosh", &acosh, [](double x) { return std::acosh(x); }, from_1},
      {"atanh", &atanh, [](double x) { return std::atanh(x); }, unit}};
  return list;
}

// The value, within `roundoffs` of float64 and correctly rounded, but for ties, in other dtypes.
void expect_close(double actual, double wanted, DType dtype, double roundoffs) {
  const double stored = elements(elements({wanted}).to(dtype))[0];
  if (!std::isfinite(stored) || stored == 0) {
    EXPECT_EQ(actual, stored);
    EXPECT_EQ(std::signbit(actual), std::signbit(stored));
    return;
  }
  const double smallest = dtype == kFloat16 ? 0x1p-14 : 0x1p-126;
  const double allowed = (dtype == kFloat64 ? roundoffs : 1.01) * roundoff(dtype);
  EXPECT_NEAR(actual, wanted, allowed * std::max(std::fabs(wanted), smallest));
}

TEST_P(InverseFunctions, AreAccurateInTheWholeDomain) {
  for (const Case& c : cases()) {
    for (const DType dtype : {kFloat64, kFloat32, kFloat16, kBFloat16}) {
      const Tensor x = elements(c.arguments, dtype).to(device());
      const Tensor y = c.function(x);
      ASSERT_EQ(y.dtype(), dtype);
      const Doubles given = elements(x), actual = elements(y);
      for (std::size_t i = 0; i < given.size(); ++i) {
        SCOPED_TRACE(testing::Message() << c.name << " " << dtype << " " << given[i]);
        expect_close(actual[i], c.reference(given[i]), dtype, 8);
      }
    }
  }
}

TEST_P(InverseFunctions, AreNaNOutsideTheirDomainAndFloat32OfIntegers) {
  for (const Function f : {&asin, &acos, &atanh}) {
    for (const double y : elements(f(elements({-1.5, 2, kInf, kNan}).to(device())))) {
      EXPECT_TRUE(std::isnan(y));
    }
  }
  for (const double y : elements(acosh(elements({0.5, -3, kNan}).to(device())))) {
    EXPECT_TRUE(std::isnan(y));
  }
  EXPECT_EQ(atan(tensor({0, 1}).to(device())).dtype(), kFloat32);
  EXPECT_EQ(atan2(tensor({0, 1}), tensor({1, 1})).dtype(), kFloat32);
}

TEST_P(InverseFunctions, AngleOfAPointHasTheSignsOfC) {
  const Doubles values{-kInf, -2, -1e-300, -0.0, 0.0, 1e-300, 0.5, 3, kInf};
  for (const double y : values) {
    for (const double x : values) {
      const Tensor a = elements({y}).to(device()), b = elements({x}).to(device());
      SCOPED_TRACE(testing::Message() << y << " " << x);
      expect_close(elements(atan2(a, b))[0], std::atan2(y, x), kFloat64, 8);
    }
  }
  const Tensor row = elements({1, -1}, kFloat32).to(device());
  EXPECT_EQ(atan2(row.unsqueeze(1), row).sizes(), (Shape{2, 2}));
  EXPECT_EQ(atan2(row, row.to(kHalf)).dtype(), kFloat32);
}

TEST_P(InverseFunctions, GradientsAgreeWithFiniteDifferences) {
  using In = std::vector<Tensor>;
  const Tensor x = random_tensor({3, 4}, -0.9, 0.9, {.seed = 5}).to(device()).requires_grad_();
  const Tensor y = random_tensor({3, 1}, 1, 2, {.seed = 6}).to(device()).requires_grad_();
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const double shift = c.function == &acosh ? 2 : 0;
    const auto f = [&](const In& in) { return c.function(in[0] + shift); };
    EXPECT_TRUE(autograd::gradcheck(f, {x}));
    EXPECT_TRUE(autograd::gradgradcheck(f, {x}));
  }
  const auto angle = [](const In& in) { return atan2(in[0], in[1]); };
  EXPECT_TRUE(autograd::gradcheck(angle, {x, y}));
  EXPECT_TRUE(autograd::gradgradcheck(angle, {x, y}));
}

// PyTorch 2.15 gives these gradients.
TEST_P(InverseFunctions, GradientsAtTheEndsAreThoseOfTheFormulas) {
  const auto gradient = [&](Function f, double x) {
    const Tensor leaf = elements({x}).to(device()).requires_grad_();
    f(leaf).backward(ones_like(leaf));
    return elements(leaf.grad())[0];
  };
  EXPECT_EQ(gradient(&asin, 1), kInf);
  EXPECT_EQ(gradient(&acos, -1), -kInf);
  EXPECT_EQ(gradient(&acosh, 1), kInf);
  EXPECT_EQ(gradient(&atanh, 1), kInf);
  EXPECT_EQ(gradient(&atan, 0), 1);
  EXPECT_EQ(gradient(&asinh, 0), 1);
  const Tensor zero = elements({0.0}).to(device()).requires_grad_();
  const Tensor other = elements({0.0}).to(device()).requires_grad_();
  atan2(zero, other).backward(ones_like(zero));
  EXPECT_EQ(elements(zero.grad()), Doubles{0});
  EXPECT_EQ(elements(other.grad()), Doubles{0});
}

}  // namespace
}  // namespace halfgrad
