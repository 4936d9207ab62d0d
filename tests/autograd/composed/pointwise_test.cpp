#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include <halfgrad/autograd/composed/pointwise.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// Expected values are PyTorch's, or are computed with <cmath>.
namespace halfgrad {
namespace {

using PointwiseComposed = TensorsOnDevice;
HALFGRAD_ON_DEVICES(PointwiseComposed);

// Compares y with f(x) computed in double for elements of every floating dtype, in roundoffs of
// the larger of the value and the smallest normal value.
void expect_close_to(const std::function<Tensor(const Tensor&)>& y,
                     const std::function<double(double)>& f, const Doubles& xs, Device device,
                     double roundoffs) {
  for (const DType dtype : {kFloat64, kFloat32, kFloat16, kBFloat16}) {
    const Tensor x = elements(xs, dtype).to(device);
    const Doubles rounded = elements(x), actual = elements(y(x));
    ASSERT_EQ(y(x).dtype(), dtype);
    const double allowed = (dtype == kFloat64 ? roundoffs : 1.01) * roundoff(dtype);
    for (std::size_t i = 0; i < xs.size(); ++i) {
      const double wanted = f(rounded[i]);
      const double stored = elements(elements({wanted}).to(dtype))[0];
      if (!std::isfinite(stored)) {
        EXPECT_EQ(actual[i], stored) << dtype << " " << rounded[i];
      } else {
        const double smallest = dtype == kFloat16 ? 0x1p-14 : 0x1p-126;
        EXPECT_NEAR(actual[i], wanted, allowed * std::max(std::fabs(wanted), smallest))
            << dtype << " " << rounded[i];
      }
    }
  }
}

const Doubles& hyperbolic_arguments() {
  static const Doubles values{0,  1e-5, -3e-3, 0.1, -0.5, 1,     3,    -11,  12,
                              40, 88.5, -89.5, 100, 700,  710.4, -711, kInf, -kInf};
  return values;
}

TEST_P(PointwiseComposed, HyperbolicFunctionsAreAccurateUpToTheLargestResult) {
  const auto host_sinh = [](double x) { return std::sinh(x); };
  const auto host_cosh = [](double x) { return std::cosh(x); };
  expect_close_to([](const Tensor& x) { return sinh(x); }, host_sinh, hyperbolic_arguments(),
                  device(), 8);
  expect_close_to([](const Tensor& x) { return cosh(x); }, host_cosh, hyperbolic_arguments(),
                  device(), 8);
  EXPECT_TRUE(std::isnan(elements(sinh(elements({kNan})))[0]));
  EXPECT_EQ(sinh(elements({0, 1}, kLong)).dtype(), kFloat32);
  const Tensor tiny = elements({1e-10}).requires_grad_();
  cosh(tiny).backward(ones_like(tiny));
  EXPECT_NEAR(elements(tiny.grad())[0], 1e-10, 8 * 0x1p-53 * 1e-10);
}

TEST_P(PointwiseComposed, SincHasAnAccurateValueAndDerivativeNearZero) {
  const auto reference = [](double x) {
    const double z = std::numbers::pi * x;
    return x == 0 ? 1 : std::sin(z) / z;
  };
  expect_close_to([](const Tensor& x) { return sinc(x); }, reference,
                  {0, 1e-300, 1e-6, -1e-3, 0.00125, 0.3, -0.5, 1.5, 2.25}, device(), 8);
  EXPECT_TRUE(std::isnan(elements(sinc(elements({kNan})))[0]));
  const Tensor x = elements({0, 1e-9, -1e-3}).requires_grad_();
  sinc(x).backward(ones_like(x));
  const Doubles dx = elements(x.grad());
  EXPECT_EQ(dx[0], 0);
  for (const std::size_t i : {1, 2}) {
    // The derivative's series for z = pi x: -pi z/3 (1 - z^2/10 + z^4/280 - z^6/15120 + ...)
    const double z = std::numbers::pi * elements(x)[i], s = z * z;
    const double wanted =
        -std::numbers::pi * z / 3 * (1 - s / 10 + s * s / 280 - s * s * s / 15120);
    EXPECT_NEAR(dx[i], wanted, 8 * 0x1p-53 * std::fabs(wanted)) << i;
  }
}

TEST_P(PointwiseComposed, HypotOfTheLargestAndTheSmallestValues) {
  const double big = 1e308, tiny = 1e-320;
  const Doubles a{3, big, tiny, 0, -5, kInf, kNan, 1e-160, kNan};
  const Doubles b{4, big / 2, tiny, 0, 12, kNan, -kInf, 1e-160, 1};
  const Doubles y = elements(hypot(elements(a), elements(b)));
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double wanted = std::hypot(a[i], b[i]);
    if (!std::isfinite(wanted)) {
      EXPECT_EQ(std::isnan(y[i]), std::isnan(wanted)) << i;
    } else {
      EXPECT_NEAR(y[i], wanted, 4 * 0x1p-53 * wanted + 1e-323) << i;
    }
  }
  EXPECT_EQ(y[5], kInf);
  EXPECT_EQ(y[6], kInf);
  EXPECT_EQ(elements(hypot(elements({3e38}, kBFloat16), elements({1}, kBFloat16))),
            elements(elements({3e38}, kBFloat16)));
  EXPECT_EQ(elements(hypot(elements({300}, kHalf), elements({400}, kHalf))), Doubles{500});
  EXPECT_EQ(hypot(elements({3}, kLong), elements({4}, kFloat32)).dtype(), kFloat32);
  EXPECT_THROW(hypot(elements({3}, kLong), elements({4}, kLong)), std::invalid_argument);
}

TEST_P(PointwiseComposed, FracKeepsTheSign) {
  EXPECT_EQ(elements(frac(elements({1.5, -1.25, 3, 0}))), (Doubles{0.5, -0.25, 0, 0}));
  EXPECT_EQ(elements(frac(elements({-2.75}, kHalf))), Doubles{-0.75});
  EXPECT_TRUE(std::isnan(elements(frac(elements({kInf})))[0]));
  EXPECT_EQ(message_of([&] { frac(elements({1}, kInt)); }),
            "frac: expected a floating point tensor, got int32");
}

TEST_P(PointwiseComposed, NanToNum) {
  const Doubles values{1, kNan, kInf, -kInf};
  expect_values(nan_to_num(elements(values, kHalf)), {1, 0, 65504, -65504});
  expect_values(nan_to_num(elements(values, kBFloat16)), {1, 0, 0x1.fep127, -0x1.fep127});
  const double largest = std::numeric_limits<float>::max();
  expect_values(nan_to_num(elements(values, kFloat32)), {1, 0, largest, -largest});
  expect_values(nan_to_num(elements(values), 7, 8, 9), {1, 7, 8, 9});
  expect_values(
      nan_to_num(elements(values), kInf),
      {1, kInf, elements(nan_to_num(elements({kInf})))[0], -std::numeric_limits<double>::max()});
  EXPECT_EQ(elements(nan_to_num(elements({3}, kLong))), Doubles{3});
  EXPECT_EQ(nan_to_num(elements(Doubles())).numel(), 0);
  EXPECT_THROW(nan_to_num(elements(values, kHalf), 1e6), std::invalid_argument);
  const Tensor x = elements(values).requires_grad_();
  nan_to_num(x).backward(ones_like(x));
  EXPECT_EQ(elements(x.grad()), (Doubles{1, 0, 0, 0}));
}

TEST_P(PointwiseComposed, Angles) {
  EXPECT_EQ(elements(deg2rad(elements({180, -90}))),
            (Doubles{std::numbers::pi, -std::numbers::pi / 2}));
  EXPECT_NEAR(elements(rad2deg(elements({std::numbers::pi})))[0], 180, 2 * 0x1p-53 * 180);
  EXPECT_EQ(deg2rad(elements({180}, kInt)).dtype(), kFloat32);
  EXPECT_EQ(elements(deg2rad(elements({180}, kHalf))), elements(elements({3.140625}, kHalf)));
}

TEST_P(PointwiseComposed, PositiveReturnsTheTensor) {
  const Tensor x = elements({-1, 2});
  EXPECT_TRUE(positive(x).is_same(x));
  EXPECT_THROW(positive(x > 0), std::invalid_argument);
}

TEST_P(PointwiseComposed, Heaviside) {
  const Tensor x = elements({-2, 0, 3, kNan, -0.0});
  EXPECT_EQ(elements(heaviside(x, elements({0.5}))), (Doubles{0, 0.5, 1, 0, 0.5}));
  EXPECT_EQ(heaviside(elements({1}, kInt), elements({2}, kInt)).dtype(), kInt);
  EXPECT_THROW(heaviside(x, elements({1}, kInt)), std::invalid_argument);
}

TEST_P(PointwiseComposed, FmaxAndFminIgnoreNan) {
  const Tensor a = elements({1, kNan, 3, kNan, 2}).requires_grad_();
  const Tensor b = elements({2, 5, kNan, kNan, 2}).requires_grad_();
  expect_values(fmax(a, b), {2, 5, 3, kNan, 2});
  expect_values(fmin(a, b), {1, 5, 3, kNan, 2});
  fmax(a, b).backward(ones_like(a));
  EXPECT_EQ(elements(a.grad()), (Doubles{0, 0, 1, 1, 0.5}));
  EXPECT_EQ(elements(b.grad()), (Doubles{1, 1, 0, 0, 0.5}));
  a.set_grad({});
  b.set_grad({});
  fmin(a, b).backward(ones_like(a));
  EXPECT_EQ(elements(a.grad()), (Doubles{1, 0, 1, 1, 0.5}));
  EXPECT_EQ(elements(b.grad()), (Doubles{0, 1, 0, 0, 0.5}));
  const Doubles integers{1, 9007199254740993.0};
  EXPECT_EQ(elements(fmax(elements({4, 1}, kLong), elements(integers, kLong))),
            (Doubles{4, integers[1]}));
  EXPECT_EQ(fmin(elements({1}, kInt), elements({2}, kHalf)).dtype(), kHalf);
}

TEST_P(PointwiseComposed, SignsOfZeroAndNan) {
  for (const DType dtype : {kFloat64, kFloat32, kFloat16, kBFloat16}) {
    const Tensor x = elements({-0.0, 0, -1, 2, -kInf, kNan}, dtype);
    EXPECT_EQ(elements(signbit(x)), (Doubles{1, 0, 1, 0, 1, 0})) << dtype;
    EXPECT_EQ(elements(copysign(full_like(x, 3), x)), (Doubles{-3, 3, -3, 3, -3, 3})) << dtype;
    EXPECT_EQ(copysign(x, x).dtype(), dtype);
  }
  const Tensor nan = elements({std::copysign(kNan, -1)});
  EXPECT_EQ(elements(signbit(nan)), Doubles{1});
  EXPECT_EQ(elements(copysign(ones_like(nan), nan)), Doubles{-1});
  EXPECT_EQ(elements(signbit(elements({-1, 0, 1}, kLong))), (Doubles{1, 0, 0}));
  EXPECT_EQ(elements(signbit(elements({0, 200}, kUInt8))), (Doubles{0, 0}));
  EXPECT_EQ(elements(signbit(elements({1, -1, -2, 2}).reshape({2, 2}).t())), (Doubles{0, 1, 1, 0}));
  EXPECT_EQ(signbit(elements(Doubles())).sizes(), Shape{0});
  EXPECT_EQ(elements(copysign(elements({1, -2}), -0.0)), (Doubles{-1, -2}));
  EXPECT_TRUE(std::signbit(elements(copysign(elements(Doubles{0}), elements({-2})))[0]));
  EXPECT_EQ(copysign(elements({1}, kInt), elements({-2}, kInt)).dtype(), kFloat32);
  const Tensor x = elements({-3, 0, 2}).requires_grad_();
  copysign(x, 1).backward(ones_like(x));
  EXPECT_EQ(elements(x.grad()), (Doubles{-1, 0, 1}));
}

TEST_P(PointwiseComposed, FloatPowerIsFloat64) {
  const Tensor x = elements({2, 3}, kInt);
  EXPECT_EQ(float_power(x, 2).dtype(), kFloat64);
  // CUDA's pow() is off by a unit in the last place.
  EXPECT_NEAR(elements(float_power(x, -1))[1], 1.0 / 3, 0x1p-53);
  EXPECT_EQ(elements(float_power(2, x)), (Doubles{4, 8}));
  const Doubles y = elements(float_power(x, elements({0.5, 2}, kHalf)));
  EXPECT_NEAR(y[0], std::sqrt(2.0), 0x1p-51);
  EXPECT_EQ(y[1], 9);
}

TEST_P(PointwiseComposed, GradientsAgreeWithFiniteDifferences) {
  struct Case {
    const char* name;
    std::function<Tensor(const std::vector<Tensor>&)> function;
  };
  using In = std::vector<Tensor>;
  const Case cases[] = {
      {"frac", [](const In& in) { return frac(in[0] + 5); }},
      {"sinh", [](const In& in) { return sinh(in[0]); }},
      {"cosh", [](const In& in) { return cosh(in[0]); }},
      {"sinc", [](const In& in) { return sinc(in[0]); }},
      {"sinc, small", [](const In& in) { return sinc(in[0] * 1e-3); }},
      {"logit", [](const In& in) { return logit(sigmoid(in[0])); }},
      {"logit, eps", [](const In& in) { return logit(in[0], 0.2); }},
      {"deg2rad", [](const In& in) { return deg2rad(in[0]); }},
      {"rad2deg", [](const In& in) { return rad2deg(in[0]); }},
      {"logaddexp", [](const In& in) { return logaddexp(in[0], in[1]); }},
      {"xlogy", [](const In& in) { return xlogy(in[0], in[1] + 3); }},
      {"hypot", [](const In& in) { return hypot(in[0], in[1]); }},
      {"fmax", [](const In& in) { return fmax(in[0], in[1]); }},
      {"fmin", [](const In& in) { return fmin(in[0], in[1]); }},
      {"copysign", [](const In& in) { return copysign(in[0], in[1]); }},
      {"float_power", [](const In& in) { return float_power(in[0] + 3, in[1]); }}};
  In inputs;
  for (std::uint64_t stream = 0; stream < 2; ++stream) {
    const Tensor x = random_tensor({3, 4}, -2, 2, {.seed = 5, .stream = stream});
    inputs.push_back(x.to(device()).requires_grad_());
  }
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_TRUE(autograd::gradcheck(c.function, inputs));
    EXPECT_TRUE(autograd::gradgradcheck(c.function, inputs));
  }
}

}  // namespace
}  // namespace halfgrad
