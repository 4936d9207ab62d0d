#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>

// Points at which formulas break: kinks, zeros, bounds, NaN, bool. The figures are PyTorch 2.15's.
namespace halfgrad {
namespace {

using Numbers = std::vector<double>;
using Function = std::function<Tensor(const Tensor&)>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Tensor variable(const Numbers& numbers) {
  return tensor(numbers, {.dtype = kDouble}).requires_grad_();
}

Numbers slope(const Function& f, const Numbers& at) {
  const Tensor x = variable(at);
  return autograd::grad({sum(f(x))}, {x})[0].to_vector<double>();
}

Numbers second_slope(const Function& f, const Numbers& at) {
  const Tensor x = variable(at);
  const Tensor first = autograd::grad({sum(f(x))}, {x}, {}, {.create_graph = true})[0];
  return autograd::grad({sum(first)}, {x})[0].to_vector<double>();
}

TEST(SpecialPoints, SecondDerivativesAtZero) {
  EXPECT_EQ(second_slope([](const Tensor& x) { return silu(x); }, {0}), Numbers{0.5});
  EXPECT_EQ(second_slope([](const Tensor& x) { return softplus(x); }, {0}), Numbers{0.25});
  const auto with_logits = [](const Tensor& x) {
    return binary_cross_entropy_with_logits(x, ones_like(x), {}, {}, kSum);
  };
  EXPECT_EQ(second_slope(with_logits, {0}), Numbers{0.25});
  const auto distance = [](const Tensor& x) { return l1_loss(x, ones_like(x), kSum); };
  EXPECT_EQ(second_slope(distance, {1, 2}), (Numbers{0, 0}));
}

TEST(SpecialPoints, IgnoredRowsHaveNoGradientInAnyOrder) {
  const Tensor target = full({2}, -100);
  const auto loss = [&](const Tensor& x) { return cross_entropy(reshape(x, {2, 2}), target); };
  const Tensor x = variable({1, 2, kNaN, 4});
  for (const bool create_graph : {false, true}) {
    const Tensor dx = autograd::grad({loss(x)}, {x}, {}, {.create_graph = create_graph})[0];
    EXPECT_EQ(dx.to_vector<double>(), (Numbers{0, 0, 0, 0})) << create_graph;
  }
}

TEST(SpecialPoints, NormsOfNegativeOrder) {
  const auto norm_1 = [](const Tensor& x) { return norm(x, -1); };
  EXPECT_EQ(slope(norm_1, {1, 0, 3}), (Numbers{0, 0, 0}));
  EXPECT_EQ(slope(norm_1, {1, 1}), (Numbers{0.25, 0.25}));
}

TEST(SpecialPoints, SoftplusOfNegativeBeta) {
  EXPECT_NEAR(softplus(tensor({1.0}), -1.0).item(), std::log1p(std::exp(-1.0)) / -1, 1e-6);
  EXPECT_NEAR(softplus(tensor({-90.0}), -1.0).item(), -90, 1e-4);
}

TEST(SpecialPoints, ClampStopsTheGradientOnABound) {
  EXPECT_EQ(slope([](const Tensor& x) { return clamp(x, 2); }, {1, 2, 3}), (Numbers{0, 0, 1}));
  EXPECT_EQ(slope([](const Tensor& x) { return clamp(x, {}, 2); }, {1, 2, 3}), (Numbers{1, 0, 0}));
}

TEST(SpecialPoints, TheMaximumOfNaNIsItsOwn) {
  EXPECT_EQ(slope([](const Tensor& x) { return max(x); }, {1, kNaN, 3}), (Numbers{0, 1, 0}));
  EXPECT_EQ(slope([](const Tensor& x) { return min(x); }, {kNaN, kNaN}), (Numbers{0.5, 0.5}));
}

TEST(SpecialPoints, VarianceFarFromZero) {
  // Of x in f32, whose neighbours are 0.001 apart there.
  Numbers numbers;
  for (int i = 0; i < 1000; ++i) numbers.push_back(1e4 + 0.01 * std::sin(i));
  const Tensor x = tensor(numbers, {.dtype = kFloat});
  const double exact = var(x.to(kDouble)).item();
  EXPECT_NEAR(var(x).item(), exact, 1e-6 * exact);
  EXPECT_NEAR(std(x).item(), std::sqrt(exact), 1e-6 * std::sqrt(exact));
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

TEST(SpecialPoints, ProbabilitiesMustBeSome) {
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

TEST(SpecialPoints, NumbersOfAnyType) {
  Tensor x = full({2}, 6.0);
  x += 1;
  x -= 3U;
  x *= std::size_t{4};
  x /= 2LL;
  EXPECT_EQ(x.to_vector<double>(), (Numbers{8, 8}));
  EXPECT_EQ((x / std::vector<int>(4).size())[0].item(), 2);
}

TEST(OverwrittenTensors, StayInTheGraph) {
  const Tensor x = variable({1, 2});
  for (const auto& overwrite : std::vector<std::function<void(Tensor&)>>{
           [](Tensor& y) { y.zero_(); }, [](Tensor& y) { y.fill_(3); },
           [](Tensor& y) { y.copy_(ones({2}, {.dtype = kDouble})); }}) {
    Tensor y = x * 2;
    overwrite(y);
    EXPECT_TRUE(y.requires_grad());
    EXPECT_EQ(autograd::grad({sum(y * y)}, {x})[0].to_vector<double>(), (Numbers{0, 0}));
  }
}

TEST(OverwrittenTensors, AreNotMissedByAProductWithAConstant) {
  const Tensor x = variable({1, 2});
  const Tensor c = tensor({3.0, 4.0}, {.dtype = kDouble});
  Tensor h = x * 1;
  const Tensor y = h * c + h / c + h * 0.5 + h / 2;
  h.add_(1.0);
  const Tensor dx = autograd::grad({sum(y) + sum(h)}, {x}, {}, {.create_graph = true})[0];
  EXPECT_NEAR(dx[0].item(), 3 + 1.0 / 3 + 2, 1e-14);
  EXPECT_NEAR(dx[1].item(), 4 + 1.0 / 4 + 2, 1e-14);
  EXPECT_FALSE(dx.requires_grad());
}

TEST(SpecialPoints, RoundingAtHalvesSignedZerosAndInfinity) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Numbers at = {kInf, -kInf, 0.5, 1.5, 2.5, -0.5, -1.5, -0.2, 4503599627370495.5};
  struct RoundingCase {
    Tensor (*round)(const Tensor&);
    Numbers expected;
  };
  const RoundingCase cases[] = {{floor, {kInf, -kInf, 0, 1, 2, -1, -2, -1, 4503599627370495}},
                                {ceil, {kInf, -kInf, 1, 2, 3, -0.0, -1, -0.0, 4503599627370496}},
                                {round, {kInf, -kInf, 0, 2, 2, -0.0, -2, -0.0, 4503599627370496}},
                                {trunc, {kInf, -kInf, 0, 1, 2, -0.0, -1, -0.0, 4503599627370495}},
                                {sign, {1, -1, 1, 1, 1, -1, -1, -1, 1}}};
  for (const auto& [round, expected] : cases) {
    const Numbers rounded = round(variable(at)).to_vector<double>();
    EXPECT_EQ(rounded, expected);
    for (std::size_t i = 0; i < at.size(); ++i) {
      EXPECT_EQ(std::signbit(rounded[i]), std::signbit(expected[i])) << at[i];
    }
    const auto times_infinity = [&, f = round](const Tensor& x) { return f(x) * kInf; };
    EXPECT_EQ(slope(times_infinity, at), Numbers(at.size(), 0));
    EXPECT_EQ(round(tensor({3, -2})).dtype(), kLong);
  }
  EXPECT_EQ(sign(tensor({kNaN})).item(), 0);
  EXPECT_EQ(sign(tensor({true, false})).dtype(), kBool);
  EXPECT_TRUE(std::isnan(round(tensor({kNaN})).item()));
}

}  // namespace
}  // namespace halfgrad
