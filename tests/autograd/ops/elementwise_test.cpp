#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <tuple>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/random_tensor.h>
#include <halfgrad/testing/ulp.h>
#include <halfgrad/tests/autograd/table/doubles.h>

namespace halfgrad {
namespace {

class Elementwise : public TensorsOnDevice {};
HALFGRAD_ON_DEVICES(Elementwise);

struct Convention {
  std::string name;
  std::function<Tensor(const Tensor&)> function;
  std::vector<double> at;
  std::vector<double> gradient;
};

// Gradients follow PyTorch at points without a derivative, and where the formula would give NaN.
TEST_P(Elementwise, GradientsAtKinksArePyTorchs) {
  const Tensor one = elements({1, 1, 1});
  const Convention conventions[] = {
      {"abs", [](const Tensor& x) { return abs(x); }, {-1, 0, 2}, {-1, 0, 1}},
      {"relu", [](const Tensor& x) { return relu(x); }, {-1, 0, 2, kNan}, {0, 0, 1, 1}},
      {"leaky_relu",
       [](const Tensor& x) { return leaky_relu(x, 0.25); },
       {-1, 0, 2},
       {.25, .25, 1}},
      {"clamp",
       [](const Tensor& x) { return clamp(x, -1, 1); },
       {-2, -1, 0, 1, 2},
       {0, 0, 1, 0, 0}},
      {"maximum", [&](const Tensor& x) { return maximum(x, one); }, {0, 1, 2}, {0, 0.5, 1}},
      {"minimum", [&](const Tensor& x) { return minimum(one, x); }, {0, 1, 2}, {1, 0.5, 0}},
      {"x^0", [](const Tensor& x) { return pow(x, 0); }, {-1, 0, 2}, {0, 0, 0}},
      {"x^1", [](const Tensor& x) { return pow(x, 1); }, {-1, 0, 2}, {1, 1, 1}},
      {"x^2", [](const Tensor& x) { return pow(x, 2); }, {-1, 0, 2}, {-2, 0, 4}},
      {"0^x", [](const Tensor& x) { return pow(0, x); }, {0, 1, 2}, {0, 0, 0}},
      {"sqrt", [](const Tensor& x) { return sqrt(x); }, {0, 4}, {kInf, 0.25}},
      {"gelu tanh", [](const Tensor& x) { return gelu(x, "tanh"); }, {-1e200, 1e200}, {0, 1}},
      {"silu", [](const Tensor& x) { return silu(x); }, {-1e200, 1e200}, {0, 1}},
      {"softplus", [](const Tensor& x) { return softplus(x); }, {-1e200, 1e200}, {0, 1}},
      {"elu", [](const Tensor& x) { return elu(x); }, {-1e200, 0, 1e200}, {0, 1, 1}},
  };
  for (const Convention& convention : conventions) {
    SCOPED_TRACE(convention.name);
    const Tensor x = elements(convention.at).requires_grad_();
    convention.function(x).backward(Tensor(Array::full(x.sizes(), 1, kFloat64, device())));
    expect_values(x.grad(), convention.gradient);
  }
}

TEST_P(Elementwise, WhereGivesNoGradientToTheOtherOperand) {
  const Tensor x = elements({0, 4}).requires_grad_();
  where(x > 0, sqrt(x), x).backward(elements({1, 1}));
  EXPECT_TRUE(std::isnan(x.grad().to_vector<double>()[0])) << "0 * inf inside sqrt, as in PyTorch";

  const Tensor a = elements({1, 2}).requires_grad_();
  const Tensor b = elements({3, 4}).requires_grad_();
  where(elements({1, 0}).to(kBool), a, b).backward(elements({kInf, kNan}));
  expect_values(a.grad(), {kInf, 0});
  expect_values(b.grad(), {0, kNan});
}

TEST_P(Elementwise, DerivativesReachTheThirdOrder) {
  const Tensor x = elements({0.5}).requires_grad_();
  Tensor y = sin(x);
  for (const double expected : {std::cos(0.5), -std::sin(0.5), -std::cos(0.5)}) {
    y = autograd::grad({y}, {x}, {}, {.create_graph = true})[0];
    EXPECT_DOUBLE_EQ(y.item(), expected);
  }
  EXPECT_THROW(autograd::grad({y}, {x}), std::runtime_error);
}

// A cut-off at 20, usual in float32, would be 5000 roundoffs off here.
TEST_P(Elementwise, SoftplusKeepsItsTail) {
  const double tail = std::log1p(std::exp(-21.0));
  const double roundoffs = 4 * roundoff(kDouble);
  EXPECT_NEAR(softplus(elements({21})).item(), 21 + tail, roundoffs * 21);
  EXPECT_NEAR(softplus(elements({-21})).item(), tail, roundoffs * tail);
}

TEST_P(Elementwise, IntegersStayIntegers) {
  const Tensor base = elements({-2, -1, 0, 1, 3}, kInt64);
  const Tensor cubes = pow(base, 3);
  EXPECT_EQ(cubes.dtype(), kInt64);
  expect_values(cubes, {-8, -1, 0, 1, 27});
  expect_values(pow(elements({-2, -1, -1, 1, 3}, kInt64), elements({-1, -1, -2, -5, 0}, kInt64)),
                {0, -1, 1, 1, 1});
  expect_values(clamp(base, 0, 1), {0, 0, 0, 1, 1});
  EXPECT_EQ(clamp(base, 0.5).dtype(), kFloat32);
  EXPECT_EQ(exp(base).dtype(), kFloat32);
  EXPECT_EQ(abs(base).dtype(), kInt64);
}

TEST_P(Elementwise, PowersOfUsualExponentsArePyTorchs) {
  const std::tuple<double, Doubles, Doubles> cases[] = {
      // exponent, powers, derivatives
      {1, {-kInf, -2, -0.0, 0, 4, kInf, kNan}, {1, 1, 1, 1, 1, 1, 1}},
      {2, {kInf, 4, 0, 0, 16, kInf, kNan}, {-kInf, -4, -0.0, 0, 8, kInf, kNan}},
      {3, {-kInf, -8, -0.0, 0, 64, kInf, kNan}, {kInf, 12, 0, 0, 48, kInf, kNan}},
      {0.5, {kNan, kNan, -0.0, 0, 2, kInf, kNan}, {kNan, kNan, -kInf, kInf, 0.25, 0, kNan}},
      {-0.5,
       {kNan, kNan, -kInf, kInf, 0.5, 0, kNan},
       {-0.0, kNan, -kInf, -kInf, -0.0625, -0.0, kNan}},
      {-1,
       {-0.0, -0.5, -kInf, kInf, 0.25, 0, kNan},
       {-0.0, -0.25, -kInf, -kInf, -0.0625, -0.0, kNan}},
      {-2, {0, 0.25, kInf, kInf, 0.0625, 0, kNan}, {0, 0.25, kInf, -kInf, -0.03125, -0.0, kNan}},
  };
  for (const DType dtype : {kFloat64, kFloat32, kFloat16, kBFloat16}) {
    for (const auto& [exponent, powers, derivatives] : cases) {
      SCOPED_TRACE(exponent);
      const Tensor x = elements({-kInf, -2, -0.0, 0, 4, kInf, kNan}, dtype).requires_grad_();
      const Tensor y = pow(x, exponent);
      EXPECT_EQ(y.dtype(), dtype);
      expect_values(y, powers);
      sum(y).backward();
      expect_values(x.grad(), derivatives);
    }
  }
}

TEST_P(Elementwise, PowersOfUsualExponentsAreProducts) {
  const Tensor x = random_tensor({1000}, -3, 3, {.seed = 4}).to(device());
  for (const DType dtype : {kFloat64, kFloat32, kInt64, kInt32}) {
    const Tensor a = x.to(dtype);
    EXPECT_TRUE(equal(pow(a, 2), a * a)) << dtype;
    EXPECT_TRUE(equal(pow(a, 3), a * a * a)) << dtype;
  }
  EXPECT_TRUE(equal(pow(abs(x), 0.5), sqrt(abs(x))));
  EXPECT_TRUE(equal(pow(x, -1), reciprocal(x)));
}

TEST_P(Elementwise, AScalarIsComparedAsTheTensorsDType) {
  EXPECT_TRUE((elements({0.1}, kFloat16) == 0.1).item<bool>());
  EXPECT_FALSE((elements({0.1}, kFloat16) == elements({0.1}, kFloat32)).item<bool>());
  EXPECT_TRUE((elements({1}, kInt64) < 1.5).item<bool>());
}

TEST_P(Elementwise, LerpReachesItsEnd) {
  expect_values(lerp(elements({1e20}), elements({1}), 1.0), {1});
  expect_values(lerp(elements({1}), elements({1e20}), 0.0), {1});
}

class InPlaceElementwise : public TensorsOnDevice {};
HALFGRAD_ON_DEVICES(InPlaceElementwise);

struct InPlace {
  std::string name;
  std::function<void(Tensor&)> change;
  std::vector<double> expected;
};

TEST_P(InPlaceElementwise, KeepsDTypeAndCountsVersions) {
  const Tensor two = elements({2, 2}, kFloat64);
  const InPlace changes[] = {
      {"add_", [&](Tensor& x) { x.add_(two, 3); }, {7, 2}},
      {"sub_", [&](Tensor& x) { x -= two; }, {-1, -6}},
      {"mul_", [&](Tensor& x) { x *= two; }, {2, -8}},
      {"div_", [&](Tensor& x) { x /= two; }, {0.5, -2}},
      {"add_ scalar", [](Tensor& x) { x.add_(0.5); }, {1.5, -3.5}},
      {"sub_ scalar", [](Tensor& x) { x.sub_(0.5); }, {0.5, -4.5}},
      {"mul_ scalar", [](Tensor& x) { x.mul_(0.5); }, {0.5, -2}},
      {"div_ scalar", [](Tensor& x) { x.div_(2); }, {0.5, -2}},
      {"relu_", [](Tensor& x) { x.relu_(); }, {1, 0}},
      {"clamp_", [](Tensor& x) { x.clamp_(-2, 0); }, {0, -2}},
      {"copy_", [&](Tensor& x) { x.copy_(elements({5})); }, {5, 5}},
      {"fill_", [](Tensor& x) { x.fill_(3); }, {3, 3}},
      {"zero_", [](Tensor& x) { x.zero_(); }, {0, 0}},
  };
  for (const InPlace& change : changes) {
    SCOPED_TRACE(change.name);
    Tensor x = elements({1, -4}, kFloat16);
    const auto version = x._version();
    change.change(x);
    expect_values(x, change.expected);
    EXPECT_EQ(x.dtype(), kFloat16);
    EXPECT_GT(x._version(), version);
  }
}

TEST_P(InPlaceElementwise, EqualsTheOutOfPlaceFunctions) {
  const Tensor x = elements({0.5, -1}, kFloat32);
  Tensor y = x.clone();
  expect_values(y.exp_(), exp(x).to_vector<double>());
  y = x.clone();
  expect_values(y.sigmoid_(), sigmoid(x).to_vector<double>());
  y = x.clone();
  expect_values(y.tanh_(), tanh(x).to_vector<double>());
}

TEST_P(InPlaceElementwise, GradientsFlowThroughChanges) {
  const Tensor x = elements({2, 3}).requires_grad_();
  Tensor y = x * 2;
  y.mul_(x);
  y.backward(elements({1, 1}));
  expect_values(x.grad(), {8, 12});

  const Tensor source = elements({5}).requires_grad_();
  Tensor target = elements({0, 0});
  target.copy_(source);
  target.backward(elements({1, 2}));
  expect_values(source.grad(), {3});
}

TEST_P(InPlaceElementwise, RefusesValuesThatItCannotHold) {
  Tensor integers = elements({1, 2}, kInt64);
  EXPECT_THROW(integers.add_(0.5), std::invalid_argument);
  EXPECT_THROW(integers.add_(Tensor(Array::full({3, 2}, 1, kInt64, device()))),
               std::invalid_argument);
  Tensor leaf = elements({1}).requires_grad_();
  EXPECT_THROW(leaf.mul_(2), std::runtime_error);
}

TEST_P(Elementwise, ArgumentsAreChecked) {
  EXPECT_THROW(gelu(elements({1}), "sigmoid"), std::invalid_argument);
  EXPECT_THROW(clamp(elements({1}), std::nullopt), std::invalid_argument);
  EXPECT_THROW(where(elements({1}), elements({1}), elements({1})), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad
