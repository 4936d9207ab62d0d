#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/rounded_division.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// div with a rounding mode, floor_divide, remainder and fmod. Expected values are PyTorch 2.15's.
namespace halfgrad {
namespace {

class RoundedDivision : public TensorsOnDevice {};
HALFGRAD_ON_DEVICES(RoundedDivision);

constexpr DType kFloats[] = {kFloat64, kFloat32, kFloat16, kBFloat16};
constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLargestInteger = std::numeric_limits<std::int64_t>::max();
using Integers = std::vector<std::int64_t>;

/// Compares values, and the signs of zeros too.
void expect_signed(const Tensor& actual, const Doubles& expected) {
  expect_values(actual, expected);
  const Doubles got = actual.to_vector<double>();
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(got[i])) continue;
    EXPECT_EQ(std::signbit(got[i]), std::signbit(expected[i])) << "element " << i;
  }
}

TEST_P(RoundedDivision, IsRightForAllSigns) {
  for (const DType dtype : kFloats) {
    SCOPED_TRACE(name(dtype));
    const Tensor a = elements({0, 0, -0.0, 6, -6, -6, 7, 7, -7, -7, 1, -1}, dtype);
    const Tensor b = elements({3, -3, 3, -3, 3, -3, 3, -3, 3, -3, -3, 3}, dtype);
    expect_signed(div(a, b, "trunc"), {0, -0.0, -0.0, -2, -2, 2, 2, -2, -2, 2, -0.0, -0.0});
    expect_signed(div(a, b, "floor"), {0, -0.0, -0.0, -2, -2, 2, 2, -3, -3, 2, -1, -1});
    expect_signed(remainder(a, b), {0, 0, -0.0, 0, -0.0, -0.0, 1, -2, 2, -1, -2, 2});
    expect_signed(fmod(a, b), {0, 0, -0.0, 0, -0.0, -0.0, 1, 1, -1, -1, 1, -1});
  }
}

TEST_P(RoundedDivision, DividesByZeroAndInfinity) {
  for (const DType dtype : kFloats) {
    SCOPED_TRACE(name(dtype));
    const Tensor a = elements({0, 1, -1, 1, 1, -1, -1, 0, kInf, -kInf, kInf, 1}, dtype);
    const Tensor b = elements({0, 0, 0, -0.0, kInf, kInf, -kInf, -kInf, 2, 0, kInf, kNan}, dtype);
    expect_signed(div(a, b, "trunc"),
                  {kNan, kInf, -kInf, -kInf, 0, -0.0, 0, -0.0, kInf, -kInf, kNan, kNan});
    expect_signed(div(a, b, "floor"),
                  {kNan, kInf, -kInf, -kInf, 0, -1, 0, -0.0, kNan, -kInf, kNan, kNan});
    expect_signed(remainder(a, b),
                  {kNan, kNan, kNan, kNan, 1, kInf, -1, 0, kNan, kNan, kNan, kNan});
    expect_signed(fmod(a, b), {kNan, kNan, kNan, kNan, 1, -1, -1, 0, kNan, kNan, kNan, kNan});
  }
}

// 0.1 is a little more than a tenth in float64 and float32: the exact quotient 6 / 0.1 is below 60,
// the rounded one is 60.
TEST_P(RoundedDivision, FloorsTheExactQuotient) {
  for (const DType dtype : {kFloat64, kFloat32}) {
    const Tensor a = elements({6, 1, -1, 4, 1e4}, dtype),
                 b = elements({.1, .1, .1, .4, 1e-3}, dtype);
    expect_values(floor_divide(a, b), {59, 9, -10, 9, 9999999});
    expect_values(floor(a / b), {60, 10, -10, 10, 1e7});
  }
  const Tensor a = elements({6, -1}), b = elements({0.1, 0.1});
  expect_values(a % b, {0.09999999999999967, 5.551115123125783e-17});
  expect_values(fmod(a, b), {0.09999999999999967, -0.09999999999999995});
  // PyTorch rounds intermediate values to bfloat16, and gives -102 and 179.
  expect_values(floor_divide(elements({-1104, 2144}, kBFloat16), elements({11, 12}, kBFloat16)),
                {-101, 178});
}

TEST_P(RoundedDivision, RemaindersOfLargeQuotientsAreExact) {
  const Tensor a = elements({3.4028234663852886e38, -10, 3e30}, kFloat32);
  const Tensor b = elements({-9.435947320407375e-07, 2.5223372357846707e-44, 7}, kFloat32);
  for (std::size_t i = 0; i < 3; ++i) {
    const double x = elements(a)[i], y = elements(b)[i], rest = std::fmod(x, y);
    EXPECT_EQ(elements(fmod(a, b))[i], rest);
    EXPECT_EQ(elements(a % b)[i], rest * y < 0 ? static_cast<float>(rest + y) : rest);
  }
}

TEST_P(RoundedDivision, GivesIntegersForIntegers) {
  for (const DType dtype : {kInt64, kInt32}) {
    const Tensor a = elements({7, -7, 8, -8, 6, -6, 0}, dtype);
    const Tensor b = elements({3, 3, -3, -3, -3, 3, -5}, dtype);
    for (const Tensor& y : {floor_divide(a, b), div(a, b, "trunc"), a % b, fmod(a, b)}) {
      EXPECT_EQ(y.dtype(), dtype);
    }
    expect_values(floor_divide(a, b), {2, -3, -3, 2, -2, -2, 0});
    expect_values(div(a, b, "trunc"), {2, -2, -2, 2, -2, -2, 0});
    expect_values(a % b, {1, 2, -1, -2, 0, 0, 0});
    expect_values(fmod(a, b), {1, -1, 2, -2, 0, 0, 0});
  }
  EXPECT_EQ(div(elements({7}, kInt64), elements({2}, kInt64)).dtype(), kFloat32);
  const Tensor large = tensor({kLargestInteger, kSmallest}).to(device());
  EXPECT_EQ(floor_divide(large, 3).to_vector<std::int64_t>(),
            (Integers{3074457345618258602, -3074457345618258603}));
}

TEST_P(RoundedDivision, WrapsForTheSmallestIntegerByMinusOne) {
  const Tensor a = tensor({kSmallest, kSmallest + 1}).to(device());
  for (const char* const mode : {"trunc", "floor"}) {
    EXPECT_EQ(div(a, -1, mode).to_vector<std::int64_t>(), (Integers{kSmallest, kLargestInteger}))
        << mode;
  }
  expect_values(a % -1, {0, 0});
  expect_values(fmod(a, -1), {0, 0});
  const Tensor narrow = elements({-2147483648.0, 5}, kInt32);
  expect_values(floor_divide(narrow, -1), {-2147483648.0, -5});
}

// A GPU cannot throw, and computes these values.
TEST(RoundedDivisionFormulas, HaveTheGpusValuesForIntegersByZero) {
  const auto expect = [](auto a, auto b) {
    using T = decltype(a);
    EXPECT_TRUE(all(detail::truncated_quotient(a, b) == T(0)));
    EXPECT_TRUE(all(detail::floored_quotient(a, b) == T(0)));
    EXPECT_TRUE(all(detail::truncated_remainder(a, b) == a));
    EXPECT_TRUE(all(detail::floored_remainder(a, b) == a));
  };
  for (const std::int64_t a : {std::int64_t{0}, std::int64_t{-7}, kSmallest, kLargestInteger}) {
    expect(a, std::int64_t{0});
    expect(Pack<std::int64_t>(a), Pack<std::int64_t>(0));
  }
}

TEST(RoundedDivisionByZeroOnCpu, OfIntegersIsRefused) {
  const Tensor a = tensor({7, -7}).to(kInt), b = tensor({1, 0}).to(kInt);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { div(a, b, "floor"); }),
            "div: expected int32 divisors other than 0, got 0");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { a % 0; }),
            "remainder: expected int32 divisors other than 0, got 0");
  EXPECT_THROW(fmod(a, 0), std::invalid_argument);
  EXPECT_THROW(floor_divide(a, tensor({{1, 2}, {0, 1}}).select(1, 0)), std::invalid_argument);
  EXPECT_THROW(tensor({7}).to(kByte) % 256, std::invalid_argument) << "256 wraps to 0";
  EXPECT_EQ(floor_divide(tensor({1, 0}), tensor({{1, 0}, {2, 0}}).select(1, 0)).numel(), 2);
  EXPECT_EQ((tensor({7}).slice(0, 1) % 0).numel(), 0);
  EXPECT_TRUE(std::isnan((a % 0.0).to_vector<double>()[0]));
}

TEST(RoundedDivisionOf, MixedDTypesHasThePromotedDType) {
  const Tensor bytes = tensor({7, 250}).to(kByte);
  const auto expect = [](const Tensor& y, DType dtype, const Doubles& expected) {
    EXPECT_EQ(y.dtype(), dtype);
    expect_values(y, expected);
  };
  expect(floor_divide(bytes, -1), kByte, {0, 0});
  expect(bytes % -1, kByte, {7, 250});
  expect(bytes % 257, kByte, {0, 0});
  expect(floor_divide(bytes, tensor({3, 4}).to(kInt)), kInt, {2, 62});
  expect(tensor({7, -7}).to(kInt) % tensor((std::int64_t{1} << 40) + 3), kInt, {1, 2});
  expect(floor_divide(tensor({7, -7}), 2.0), kFloat, {3, -4});
  expect(5 % tensor({3, -3}), kLong, {2, -1});
  expect(5.5 % tensor({3, -3}), kFloat, {2.5, -0.5});
  expect(floor_divide(tensor({true}), tensor({2})), kLong, {0});
  // remainder and fmod round the divisor to the dtype, div does not.
  const Tensor halves = tensor({8.0, 11.0}).to(kHalf);
  expect(halves % 0.3, kHalf, {0.19873046875, 0.1982421875});
  expect(fmod(halves, 0.3), kHalf, {0.19873046875, 0.1982421875});
  expect(floor_divide(halves, -0.4), kHalf, {-20, -28});
  expect(div(halves, -0.4, "trunc"), kHalf, {-20, -27});
}

TEST(RoundedDivisionOf, MasksOrByUnknownModesIsRefused) {
  const Tensor mask = tensor({true, false}), x = tensor({1.0, 2.0});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { mask % mask; }),
            "remainder: expected numeric tensors, got two bool tensors");
  EXPECT_THROW(div(mask, true, "trunc"), std::invalid_argument);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { x.div(2, "round"); }),
            "div: expected \"trunc\", \"floor\" or no rounding_mode, got \"round\"");
  EXPECT_EQ(x.div(4, std::nullopt).to_vector<double>(), (Doubles{0.25, 0.5}));
  EXPECT_THROW(tensor({3, 4}).floor_divide_(2.0), std::invalid_argument);
}

TEST_P(RoundedDivision, GradientsArePyTorchs) {
  const Doubles a = {7, -7, 7, 0, 1}, b = {3, 3, -3, 0, 0};
  const auto gradients = [&](auto f, double cotangent) {
    const Tensor x = elements(a).requires_grad_(), y = elements(b).requires_grad_();
    return autograd::grad({f(x, y)}, {x, y}, {elements(Doubles(5, cotangent))});
  };
  using X = const Tensor&;
  const auto remainders = gradients([](X x, X y) { return remainder(x, y); }, 1);
  expect_values(remainders[0], Doubles(5, 1));
  expect_values(remainders[1], {-2, 3, 3, kNan, -kInf});
  const auto fmods = gradients([](X x, X y) { return fmod(x, y); }, 1);
  expect_values(fmods[0], Doubles(5, 1));
  expect_values(fmods[1], {-2, 2, 2, kNan, -kInf});
  for (const char* const mode : {"trunc", "floor"}) {
    for (const Tensor& g : gradients([&](X x, X y) { return div(x, y, mode); }, kInf)) {
      expect_values(g, Doubles(5, 0));
    }
  }
}

// The quotients are piecewise constant, so their derivatives are 0, even for a divisor of 0.
TEST_P(RoundedDivision, SecondDerivativesAreZero) {
  for (const auto f : {+[](const Tensor&x, const Tensor&y) { return remainder(x, y); },
                       +[](const Tensor&x, const Tensor&y) { return fmod(x, y); }}) {
    const Tensor x = elements({7, 1}).requires_grad_(), y = elements({-3, 0}).requires_grad_();
    const Tensor by_y =
        autograd::grad({f(x, y)}, {y}, {elements({1, 1})}, {.create_graph = true})[0];
    for (const Tensor& g : autograd::grad({by_y}, {x, y}, {elements({1, 1})})) {
      expect_values(g, {0, 0});
    }
  }
}

}  // namespace
}  // namespace halfgrad
