#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/linear_activation.h>
#include <halfgrad/autograd/ops.h>

// Points at which formulas break: kinks, zeros, bounds, NaN, bool. Expected values are PyTorch's.
namespace halfgrad {
namespace {

using Doubles = std::vector<double>;
using Formula = std::function<Tensor(const Tensor&)>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor point(const Doubles& elements) {
  return tensor(elements, {.dtype = kDouble}).requires_grad_();
}

Doubles slope(const Formula& f, const Doubles& at) {
  const Tensor x = point(at);
  return autograd::grad({sum(f(x))}, {x})[0].to_vector<double>();
}

Doubles second_slope(const Formula& f, const Doubles& at) {
  const Tensor x = point(at);
  const Tensor first = autograd::grad({sum(f(x))}, {x}, {}, {.create_graph = true})[0];
  return autograd::grad({sum(first)}, {x})[0].to_vector<double>();
}

TEST(SpecialPoints, SecondDerivativesAtZero) {
  EXPECT_EQ(second_slope([](const Tensor& x) { return silu(x); }, {0}), Doubles{0.5});
  EXPECT_EQ(second_slope([](const Tensor& x) { return softplus(x); }, {0}), Doubles{0.25});
  const auto with_logits = [](const Tensor& x) {
    return binary_cross_entropy_with_logits(x, ones_like(x), {}, {}, kSum);
  };
  EXPECT_EQ(second_slope(with_logits, {0}), Doubles{0.25});
  const auto distance = [](const Tensor& x) { return l1_loss(x, ones_like(x), kSum); };
  EXPECT_EQ(second_slope(distance, {1, 2}), (Doubles{0, 0}));
  EXPECT_EQ(slope([](const Tensor& x) { return elu(x, 1.5); }, {0, -0.0}), (Doubles{1.5, 1.5}));
  EXPECT_EQ(second_slope([](const Tensor& x) { return elu(x, 1.5); }, {0, -0.0}), (Doubles{0, 0}));
}

TEST(SpecialPoints, DerivativesAtPoles) {
  const std::tuple<Formula, Doubles, Doubles> cases[] = {
      // formula, first derivatives, second derivatives
      {[](const Tensor& x) { return rsqrt(x); }, {-kInf, kInf}, {kInf, -kInf}},
      {[](const Tensor& x) { return pow(x, -1); }, {-kInf, -kInf}, {kInf, -kInf}},
      {[](const Tensor& x) { return pow(x, 0.5); }, {kInf, -kInf}, {-kInf, -kInf}},
      {[](const Tensor& x) { return pow(x, 1.5); }, {0, 0}, {kInf, kInf}},
      {[](const Tensor& x) { return pow(x, 2); }, {0, -0.0}, {2, 2}},
      {[](const Tensor& x) { return reciprocal(x); }, {-kInf, -kInf}, {kInf, -kInf}},
  };
  for (const auto& [f, slopes, second_slopes] : cases) {
    EXPECT_EQ(slope(f, {0, -0.0}), slopes);
    EXPECT_EQ(second_slope(f, {0, -0.0}), second_slopes);
  }
}

TEST(SpecialPoints, IgnoredRowsHaveNoGradientInAnyOrder) {
  const Tensor target = full({2}, -100);
  const auto loss = [&](const Tensor& x) { return cross_entropy(reshape(x, {2, 2}), target); };
  const Tensor x = point({1, 2, kNaN, 4});
  for (const bool create_graph : {false, true}) {
    const Tensor dx = autograd::grad({loss(x)}, {x}, {}, {.create_graph = create_graph})[0];
    EXPECT_EQ(dx.to_vector<double>(), (Doubles{0, 0, 0, 0})) << create_graph;
  }
}

TEST(SpecialPoints, NormsOfNegativeOrder) {
  const auto norm_1 = [](const Tensor& x) { return norm(x, -1); };
  EXPECT_EQ(slope(norm_1, {1, 0, 3}), (Doubles{0, 0, 0}));
  EXPECT_EQ(slope(norm_1, {1, 1}), (Doubles{0.25, 0.25}));
}

TEST(SpecialPoints, SoftplusOfNegativeBeta) {
  EXPECT_NEAR(softplus(tensor({1.0}), -1.0).item(), std::log1p(std::exp(-1.0)) / -1, 1e-6);
  EXPECT_NEAR(softplus(tensor({-90.0}), -1.0).item(), -90, 1e-4);
}

TEST(SpecialPoints, ClampStopsTheGradientOnABound) {
  EXPECT_EQ(slope([](const Tensor& x) { return clamp(x, 2); }, {1, 2, 3}), (Doubles{0, 0, 1}));
  EXPECT_EQ(slope([](const Tensor& x) { return clamp(x, {}, 2); }, {1, 2, 3}), (Doubles{1, 0, 0}));
}

TEST(SpecialPoints, TheGradientOfMaxGoesToNaN) {
  EXPECT_EQ(slope([](const Tensor& x) { return max(x); }, {1, kNaN, 3}), (Doubles{0, 1, 0}));
  EXPECT_EQ(slope([](const Tensor& x) { return min(x); }, {kNaN, kNaN}), (Doubles{0.5, 0.5}));
}

TEST(SpecialPoints, VarianceFarFromZero) {
  // Around 1e4, adjacent float32 values differ by 0.001.
  Doubles elements;
  for (int i = 0; i < 1000; ++i) elements.push_back(1e4 + 0.01 * std::sin(i));
  const Tensor x = tensor(elements, {.dtype = kFloat});
  const double exact = var(x.to(kDouble)).item();
  EXPECT_NEAR(var(x).item(), exact, 1e-6 * exact);
  EXPECT_NEAR(std(x).item(), std::sqrt(exact), 1e-6 * std::sqrt(exact));
}

// The squares of many of these values are outside float32's range.
TEST(SpecialPoints, DeviationOfTheLargestAndSmallestValues) {
  const auto deviation = [](const Doubles& elements) {
    return std(tensor(elements, {.dtype = kFloat})).item<float>();
  };
  EXPECT_FLOAT_EQ(deviation({1e-25, 2e-25}), 7.071068122703665e-26F);
  EXPECT_FLOAT_EQ(deviation({1e30, -1e30}), 1.4142135130433894e+30F);
  EXPECT_FLOAT_EQ(deviation({1e38, -1e38}), 1.4142135230892728e+38F);
  EXPECT_EQ(deviation({3e38, 3e38, 3e38}), 0);
  EXPECT_FLOAT_EQ(deviation({1e-40, 3e-40}), 1.4142184361658919e-40F);
  EXPECT_EQ(deviation({5, 5, 5}), 0);
  EXPECT_EQ(deviation({0, 0}), 0);
  EXPECT_TRUE(std::isinf(deviation({3e38, -3e38})));
  EXPECT_TRUE(std::isnan(deviation({1, kNaN})));
  EXPECT_TRUE(std::isnan(deviation({1})));
  EXPECT_EQ(var(tensor({1e-25, 2e-25}, {.dtype = kFloat})).item(), 0);
  EXPECT_TRUE(std::isinf(var(tensor({1e30, -1e30}, {.dtype = kFloat})).item()));
  EXPECT_DOUBLE_EQ(std(tensor({1e-200, 3e-200}, {.dtype = kDouble})).item(),
                   std::sqrt(2.0) * 1e-200);
}

TEST(SpecialPoints, DeviationOfNearlyEqualValues) {
  Tensor x = full({3000000}, std::sin(8) * 7, {.dtype = kFloat});
  x[0].mul_(1.0000002);
  EXPECT_FALSE(std::isnan(std(x).item()));
  EXPECT_GE(var(x).item(), 0);
}

// As in PyTorch for float32 and float64; its products of 16 bits read the operands, unlike BLAS.
TEST(SpecialPoints, FactorsOfZeroReadNoOperand) {
  const Tensor nan = full({2, 2}, kNaN), one = ones({2, 2});
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    const Tensor n = nan.to(dtype), o = one.to(dtype);
    EXPECT_EQ(addmm(o, n, o, 1, 0).to_vector<double>(), Doubles(4, 1));
    EXPECT_EQ(addmm(n, n, n, 0, 0).to_vector<double>(), Doubles(4, 0));
    EXPECT_EQ(addmm(n, o, o, 0).to_vector<double>(), Doubles(4, 2));
  }
}

TEST(SpecialPoints, NormsOfEmptyTensors) {
  const Tensor none = zeros({0}), rows = zeros({2, 0});
  for (const double p :
       {std::numeric_limits<double>::infinity(), -1.0, -std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(norm(none, p), std::invalid_argument);
    EXPECT_THROW(norm(rows, p, {1}), std::invalid_argument);
    EXPECT_EQ(norm(rows, p, {0}).sizes(), Shape{0});
  }
  for (const double p : {0.0, 0.5, 1.0, 2.0}) EXPECT_EQ(norm(none, p).item(), 0);
}

TEST(SpecialPoints, OneHotOfEmptyTensors) {
  const Tensor none = zeros({2, 0}, {.dtype = kLong});
  EXPECT_EQ(one_hot(none, 3).sizes(), Shape({2, 0, 3}));
  EXPECT_THROW(one_hot(none), std::invalid_argument);
  EXPECT_THROW(one_hot(none, -2), std::invalid_argument);
}

TEST(SpecialPoints, AllAndAnyOfBytesAreBytes) {
  const Tensor bytes = tensor({{1, 0, 3}, {2, 0, 0}}, {.dtype = kByte});
  EXPECT_EQ(all(bytes).dtype(), kByte);
  EXPECT_EQ(any(bytes, 0).dtype(), kByte);
  EXPECT_EQ(any(bytes, 0).to_vector<int>(), (std::vector<int>{1, 0, 1}));
  EXPECT_EQ(all(bytes.to(kInt)).dtype(), kBool);
}

TEST(SpecialPoints, LossesOfIntegers) {
  const Tensor a = tensor({1, 5, 2}), b = tensor({3, 3, 4});
  EXPECT_EQ(l1_loss(a, b, kNone).dtype(), kLong);
  EXPECT_EQ(l1_loss(a.to(kInt), b.to(kInt), kSum).dtype(), kLong);
  EXPECT_EQ(l1_loss(a, b, kSum).item(), 6);
  EXPECT_THROW(l1_loss(a, b), std::invalid_argument);
  EXPECT_THROW(mse_loss(a, b, kSum), std::invalid_argument);
  EXPECT_THROW(smooth_l1_loss(a, b, kSum, 0), std::invalid_argument);
  EXPECT_THROW(huber_loss(a, b, kSum), std::invalid_argument);
  EXPECT_EQ(mse_loss(a, b.to(kFloat)).item(), 4);
}

TEST(SpecialPoints, CatSkipsEmptyTensors) {
  const Tensor none = point({}), x = ones({2, 2}, {.dtype = kDouble});
  const Tensor joined = cat({none, x, none}, 1);
  EXPECT_EQ(joined.sizes(), Shape({2, 2}));
  EXPECT_EQ(autograd::grad({sum(joined)}, {none})[0].sizes(), Shape{0});
  EXPECT_EQ(autograd::grad({sum(cat({none, x}, 0))}, {none})[0].sizes(), Shape{0});
  EXPECT_THROW(cat({zeros({0, 3}), x}, 1), std::invalid_argument);
}

TEST(SpecialPoints, BiasOfOneElement) {
  const Tensor x = point({1, 2, 3}), w = ones({4, 3}, {.dtype = kDouble});
  for (const Shape& sizes : {Shape{}, Shape{1}}) {
    const Tensor bias = full(sizes, 2, {.dtype = kDouble}).requires_grad_();
    for (const bool batch : {false, true}) {
      const Tensor y = linear(batch ? reshape(x, {1, 3}) : x, w, bias);
      EXPECT_EQ(y.to_vector<double>(), Doubles(4, 8));
      const Tensor db = autograd::grad({sum(y)}, {bias})[0];
      EXPECT_EQ(db.sizes(), sizes);
      EXPECT_EQ(db.item(), 4);
    }
    EXPECT_EQ(linear_relu(x, w, bias).to_vector<double>(), Doubles(4, 8));
  }
  for (const Shape& sizes : {Shape{3}, Shape{2, 4}, Shape{0}}) {
    EXPECT_THROW(linear(x, w, zeros(sizes, {.dtype = kDouble})), std::invalid_argument);
  }
}

TEST(SpecialPoints, SoftplusWithAThreshold) {
  const auto cut_off = [](const Tensor& x) { return softplus(x, 2, 20); };
  const Doubles at{9, 11, 10, -3};
  EXPECT_EQ(cut_off(point(at))[1].item(), 11);
  EXPECT_GT(cut_off(point(at))[2].item(), 10);
  const Doubles slopes = slope(cut_off, at), second = second_slope(cut_off, at);
  const Doubles expected{0.9999999847700205, 1, 0.9999999979388464, 0.0024726231566347748};
  for (std::size_t i = 0; i < at.size(); ++i) EXPECT_DOUBLE_EQ(slopes[i], expected[i]);
  EXPECT_EQ(second[1], 0);
  EXPECT_NEAR(second[0], 3.045995853562458e-08, 1e-15);
}

TEST(SpecialPoints, Bools) {
  const Tensor bools = tensor({true, false});
  EXPECT_EQ(masked_fill(bools, tensor({false, true}), 0.5).to_vector<int>(),
            (std::vector<int>{1, 1}));
  EXPECT_EQ(clamp(bools, 2).dtype(), kLong);
  EXPECT_EQ(clamp(bools, 2).to_vector<int>(), (std::vector<int>{2, 2}));
  EXPECT_EQ(square(bools).dtype(), kLong);
  EXPECT_TRUE(sum(tensor({2, -2}), kBool).item<bool>());
}

TEST(SpecialPointsOnCpu, ProbabilitiesOutOfRangeAreRefused) {
  EXPECT_THROW(binary_cross_entropy(tensor({1.5}), tensor({1.0})), std::invalid_argument);
  EXPECT_THROW(binary_cross_entropy(tensor({0.5}), tensor({-1.0})), std::invalid_argument);
  EXPECT_TRUE(std::isnan(binary_cross_entropy(tensor({kNaN}), tensor({1.0})).item()));
}

TEST(SpecialPoints, ViewsAreNeverCopies) {
  Tensor x = zeros({2, 3});
  EXPECT_THROW(x.t().view({-1}), std::runtime_error);
  x.view({-1}).fill_(1);
  EXPECT_EQ(sum(x).item(), 6);
  EXPECT_TRUE(zeros({3}).t().sizes() == Shape{3});
  EXPECT_THROW(zeros({2, 3, 4}).t(), std::invalid_argument);
}

TEST(SpecialPoints, ScalarsOfAnyType) {
  Tensor x = full({2}, 6.0);
  x += 1;
  x -= 3U;
  x *= std::size_t{4};
  x /= 2LL;
  EXPECT_EQ(x.to_vector<double>(), (Doubles{8, 8}));
  EXPECT_EQ((x / std::vector<int>(4).size())[0].item(), 2);
}

TEST(SpecialPoints, RoundingAtHalvesSignedZerosAndInfinity) {
  const Doubles at = {kInf, -kInf, 0.5, 1.5, 2.5, -0.5, -1.5, -0.2, 4503599627370495.5};
  struct RoundingCase {
    Tensor (*round)(const Tensor&);
    Doubles expected;
  };
  const RoundingCase cases[] = {{floor, {kInf, -kInf, 0, 1, 2, -1, -2, -1, 4503599627370495}},
                                {ceil, {kInf, -kInf, 1, 2, 3, -0.0, -1, -0.0, 4503599627370496}},
                                {round, {kInf, -kInf, 0, 2, 2, -0.0, -2, -0.0, 4503599627370496}},
                                {trunc, {kInf, -kInf, 0, 1, 2, -0.0, -1, -0.0, 4503599627370495}},
                                {sign, {1, -1, 1, 1, 1, -1, -1, -1, 1}}};
  for (const auto& [round, expected] : cases) {
    const Doubles rounded = round(point(at)).to_vector<double>();
    EXPECT_EQ(rounded, expected);
    for (std::size_t i = 0; i < at.size(); ++i) {
      EXPECT_EQ(std::signbit(rounded[i]), std::signbit(expected[i])) << at[i];
    }
    const auto times_infinity = [&, f = round](const Tensor& x) { return f(x) * kInf; };
    EXPECT_EQ(slope(times_infinity, at), Doubles(at.size(), 0));
    EXPECT_EQ(round(tensor({3, -2})).dtype(), kLong);
  }
  EXPECT_EQ(sign(tensor({kNaN})).item(), 0);
  EXPECT_EQ(sign(tensor({true, false})).dtype(), kBool);
  EXPECT_TRUE(std::isnan(round(tensor({kNaN})).item()));
}

// The square of the divisor underflows to 0 or overflows.
TEST(SpecialPoints, QuotientsOfTinyAndHugeValues) {
  const Tensor a = tensor({0x1p-90f, 0x1p90f}), b = tensor({0x1p-80f, 0x1p80f});
  const auto slope_by_divisor = [&](const auto& quotient) {
    const Tensor divisor = b.clone().requires_grad_();
    return autograd::grad({sum(quotient(divisor))}, {divisor})[0].template to_vector<double>();
  };
  const Doubles expected = {-0x1p70, -0x1p-70};
  EXPECT_EQ(slope_by_divisor([&](const Tensor& x) { return a / x; }), expected);
  EXPECT_EQ(slope_by_divisor([&](const Tensor& x) { return addcdiv(a, a, x); }), expected);
}

}  // namespace
}  // namespace halfgrad
