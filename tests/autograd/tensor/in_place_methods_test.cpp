#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>
#include <halfgrad/tests/message_of.h>

// Each in-place method gives the values and gradients of the method without _.
namespace halfgrad {
namespace {

struct InPlaceCase {
  std::string name;
  std::function<Tensor&(const Tensor&)> in_place;
  std::function<Tensor(const Tensor&)> out_of_place;
};

struct Operands {
  Tensor a = tensor({{1.5, 2.25, 0.5}, {3.0, 2.0, 1.0}}, {.requires_grad = true});
  Tensor b = tensor({{0.25, 0.5, 0.75}, {0.0, 1.0, 0.125}}, {.requires_grad = true});
  Tensor square = tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}, {7.0, 8.0, 9.0}});
  Tensor index = tensor({{1, 0, 1}});
};

const Operands& with() {
  static const Operands operands;
  return operands;
}

#define BOTH(name, ...)                                                               \
  InPlaceCase {                                                                       \
#name, [](const Tensor& x) -> Tensor& { return x.name##_(__VA_ARGS__); },           \
        [](const Tensor& x) -> Tensor { return x.name(__VA_ARGS__); } \
  }

std::vector<InPlaceCase> in_place_cases() {
  return {BOTH(add, with().a, 3),
          BOTH(sub, with().a, 3),
          BOTH(mul, with().a),
          BOTH(div, with().a),
          BOTH(add, 2, 3),
          BOTH(sub, 2, 3),
          BOTH(mul, 2),
          BOTH(div, 2),
          BOTH(div, with().a, "floor"),
          BOTH(div, 2, "trunc"),
          BOTH(div, with().a, std::nullopt),
          BOTH(floor_divide, with().a),
          BOTH(floor_divide, 2),
          BOTH(remainder, with().a),
          BOTH(remainder, 2),
          BOTH(fmod, with().a),
          BOTH(fmod, 2),
          BOTH(neg),
          BOTH(pow, with().a),
          BOTH(pow, 3),
          BOTH(clamp, 1, 2),
          BOTH(clamp, with().a),
          BOTH(clamp, with().b, with().a),
          BOTH(clamp_min, 1),
          BOTH(clamp_max, 1),
          BOTH(clamp_min, with().a),
          BOTH(clamp_max, with().a),
          BOTH(lerp, with().a, with().b),
          BOTH(lerp, with().a, 0.25),
          BOTH(addcmul, with().a, with().b),
          BOTH(addcdiv, with().b, with().a, 2),
          BOTH(abs),
          BOTH(exp),
          BOTH(exp2),
          BOTH(expm1),
          BOTH(log),
          BOTH(log2),
          BOTH(log10),
          BOTH(log1p),
          BOTH(sqrt),
          BOTH(rsqrt),
          BOTH(reciprocal),
          BOTH(square),
          BOTH(sin),
          BOTH(cos),
          BOTH(tan),
          BOTH(tanh),
          BOTH(erf),
          BOTH(sigmoid),
          BOTH(relu),
          BOTH(floor),
          BOTH(ceil),
          BOTH(round),
          BOTH(trunc),
          BOTH(sign),
          BOTH(tril, 1),
          BOTH(triu, 1),
          BOTH(masked_fill, with().a > 1.75, 9),
          BOTH(scatter_add, 0, with().index, with().a),
          BOTH(addmm, with().a, with().square, 2, 3)};
}

TEST(InPlaceMethods, GiveTheValuesOfTheOutOfPlaceMethodsAndCountAsChanges) {
  for (const InPlaceCase& c : in_place_cases()) {
    SCOPED_TRACE(c.name);
    const NoGradGuard no_grad;
    const Tensor x = tensor({{0.5, 2.5, 1.5}, {4.0, 0.75, 3.0}});
    const Tensor expected = c.out_of_place(x);
    const std::uint32_t before = x._version();
    EXPECT_TRUE(c.in_place(x).is_same(x));
    EXPECT_GT(x._version(), before);
    EXPECT_EQ(x.to_vector<double>(), expected.to_vector<double>());
  }
}

TEST(InPlaceMethods, GiveTheGradientsOfTheOutOfPlaceMethods) {
  for (const InPlaceCase& c : in_place_cases()) {
    SCOPED_TRACE(c.name);
    const Tensor x = tensor({{0.5, 2.5, 1.5}, {4.0, 0.75, 3.0}}, {.requires_grad = true});
    const Tensor y = x * 1;
    c.in_place(y);
    const auto gradients = [&](const Tensor& of) {
      std::vector<double> all;
      const Tensor loss = sum(of * tensor({{1, -2, 3}, {-4, 5, -6}}));
      for (const Tensor& g :
           autograd::grad({loss}, {x, with().a, with().b}, {}, {.allow_unused = true})) {
        if (!g.defined()) continue;
        for (const double element : g.to_vector<double>()) all.push_back(element);
      }
      return all;
    };
    EXPECT_EQ(gradients(y), gradients(c.out_of_place(x)));
  }
}

TEST(InPlaceMethods, OfRandomNumbersDrawFromTheDefaultGenerator) {
  const Tensor x = zeros({4000}, {.dtype = kDouble});
  manual_seed(7);
  const std::vector<double> first = x.normal_(3, 2).to_vector<double>();
  EXPECT_NEAR(x.mean().item(), 3, 5 * 2 / std::sqrt(4000));
  EXPECT_NE(x.normal_(3, 2).to_vector<double>(), first);
  manual_seed(7);
  EXPECT_EQ(x.normal_(3, 2).to_vector<double>(), first);
  x.uniform_(2, 4);
  EXPECT_GE(x.min().item(), 2);
  EXPECT_LT(x.max().item(), 4);
  x.bernoulli_(0.25);
  EXPECT_NEAR(x.mean().item(), 0.25, 5 * 0.44 / std::sqrt(4000));
  const Tensor weight = ones({2}, {.requires_grad = true});
  EXPECT_NE(message_of([&] { weight.normal_(); }).find("normal_"), std::string::npos);
}

TEST(InPlaceMethods, RandomDrawsIntegers) {
  manual_seed(9);
  const Tensor x = zeros({4000});
  x.random_(3);
  EXPECT_EQ(x.min().item(), 0);
  EXPECT_EQ(x.max().item(), 2);
  EXPECT_TRUE(x.equal(x.floor()));
  EXPECT_NEAR(x.mean().item(), 1, 5 * std::sqrt(2.0 / 3 / 4000));
  x.random_(-2, 1);
  EXPECT_EQ(x.min().item(), -2);
  EXPECT_EQ(x.max().item(), 0);
  EXPECT_THROW(x.random_(2, 2), std::invalid_argument);
}

TEST(InPlaceMethods, RandomWithoutBoundsCoversTheDtype) {
  manual_seed(9);
  const struct {
    DType dtype;
    double largest;
  } cases[] = {{kDouble, 0x1p53}, {kFloat, 0x1p24}, {kHalf, 0x1p11}, {kBFloat16, 0x1p8},
               {kLong, 0x1p63},   {kInt, 0x1p31},   {kUInt8, 255},   {kBool, 1}};
  for (const auto& [dtype, largest] : cases) {
    const Tensor x = empty({4000}, dtype).random_();
    EXPECT_GE(x.min().item(), 0) << name(dtype);
    EXPECT_LT(x.min().item(), largest / 100 + 0.5) << name(dtype);
    EXPECT_LE(x.max().item(), largest) << name(dtype);
    EXPECT_GT(x.max().item(), largest * 0.99) << name(dtype);
  }
}

TEST(InPlaceMethods, CannotChangeTheDtype) {
  const Tensor x = tensor({1, 2});
  EXPECT_THROW(x.sqrt_(), std::invalid_argument);
  EXPECT_THROW(x.uniform_(), std::invalid_argument);
  EXPECT_EQ(x.square_().to_vector<double>(), (std::vector<double>{1, 4}));
}

}  // namespace
}  // namespace halfgrad
