#include <halfgrad/testing/error_bound.h>

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/testing/error_budget.h>

namespace halfgrad::testing {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr double kFloatRoundoff = 0x1p-24, kDoubleRoundoff = 0x1p-53;
const BoundedArithmetic kInFloat(kFloat32, kFloat32), kInDouble(kFloat64, kFloat64);

// sqrt(0 + 1e-4) = 1e-2: near 0 the error above the root is much larger than the one below.
TEST(ErrorBound, SquareRootCoversTheErrorAbove) {
  EXPECT_GE(kInFloat.sqrt({0, 1e-4}).error, 1e-2);
  EXPECT_GE(kInFloat.sqrt({1e-5, 1e-4}).error, std::sqrt(1.1e-4) - std::sqrt(1e-5));
}

// The float32 mean of three 0.1 may round to another value, so the deviation need not be 0.
TEST(ErrorBound, DeviationOfAConstantRowMayRound) {
  const std::vector<double> row(3, 0.1F);
  const auto budget = error_budget(kernel_op("std"), {{{1, 3}, row}}, kFloat32, kFloat32);
  EXPECT_EQ(budget.expected[0], 0);
  EXPECT_GT(budget.allowed[0], kFloatRoundoff / 8);
  EXPECT_LT(budget.allowed[0], 8 * kFloatRoundoff);
}

// The bound is the kernel's roundoff plus that of the reference.
TEST(ErrorBound, InDoubleCoversTheReferencesOwnError) {
  EXPECT_GE(kInDouble.mul({3, 0}, {5, 0}).error, 2 * 15 * kDoubleRoundoff);
  EXPECT_GE(kInDouble.exp({1, 0}).error, 2 * 4 * std::exp(1) * kDoubleRoundoff);
  EXPECT_LT(kInFloat.mul({3, 0}, {5, 0}).error, 1.001 * 15 * kFloatRoundoff);
}

TEST(ErrorBound, ConstantsAreRounded) {
  EXPECT_EQ(kInFloat.constant(0.5).error, 0);
  EXPECT_EQ(kInFloat.constant(0.1).error, 0.1F - 0.1);
  EXPECT_EQ(BoundedArithmetic(kFloat16, kFloat16).constant(2049).error, 1);
}

TEST(ErrorBound, AnOperandOfUnknownSignHasNoBound) {
  EXPECT_EQ(kInFloat.div({1, 2}, {0, 0}).error, kUnbounded) << "1 / 0, or -1 / 0";
  EXPECT_EQ(kInFloat.div({1, 0.5}, {0, 0}).error, 0);
  EXPECT_EQ(kInFloat.log({-1e-9, 1e-8}).error, kUnbounded);
  EXPECT_EQ(kInFloat.mul({0, 0}, {7, 1}).error, 0);
}

// A partial sum may overflow to the infinity of the other sign, and inf - inf is NaN.
TEST(ErrorBound, SumsWithAnInfinityMayBecomeNan) {
  const Bounded infinity{kUnbounded, 0}, large{3e38, 0}, one{1, 0};
  EXPECT_EQ(kInFloat.sum({infinity, one}).error, 0);
  EXPECT_EQ(kInFloat.sum({infinity, {-3e38, 0}, {-3e38, 0}}).error, kUnbounded);
  EXPECT_EQ(kInFloat.dot({infinity, large}, {one, {-10, 0}}).error, kUnbounded);
  EXPECT_EQ(kInFloat.add(infinity, kInFloat.mul(large, {-10, 0})).error, kUnbounded);
  EXPECT_EQ(kInFloat.sum({{std::nan(""), 0}, large, large}).error, 0) << "NaN in any order";
}

// inf * 0 is NaN, and inf * -1e-45 is -inf.
TEST(ErrorBound, InfinityByAFactorThatMayBeZeroHasNoBound) {
  const Bounded infinity{kUnbounded, 0}, maybe_zero{1e-46, 1e-45}, nan{std::nan(""), 0};
  EXPECT_EQ(kInFloat.mul(infinity, maybe_zero).error, kUnbounded);
  EXPECT_EQ(kInFloat.dot({infinity}, {maybe_zero}).error, kUnbounded);
  EXPECT_EQ(kInFloat.div(infinity, maybe_zero).error, kUnbounded);
  EXPECT_EQ(kInFloat.mul(infinity, {1, 0.5}).error, 0);
  EXPECT_EQ(kInFloat.mul(infinity, {0, 0}).error, 0) << "NaN";
  EXPECT_EQ(kInFloat.mul(nan, maybe_zero).error, 0);
  EXPECT_EQ(kInFloat.either(infinity, {kUnbounded, kUnbounded}).error, kUnbounded);
}

// x and y may be the largest where their errors overlap.
TEST(ErrorBound, MaximumHasTheErrorOfTheElementsThatItMayBe) {
  EXPECT_EQ(kInFloat.max({{1, 0.5}, {2, 0}}).error, 0);
  EXPECT_EQ(kInFloat.max({{1, 2}, {2, 0.25}}).error, 1);
  EXPECT_EQ(kInFloat.max({{1, 0}, {kUnbounded, 0}}).error, 0);
}

TEST(ErrorBound, ProductHoldsInAnyOrder) {
  const auto product = [](const std::vector<double>& row) {
    std::vector<Bounded> x;
    for (const double each : row) x.push_back({each, 0});
    return kInFloat.prod(x);
  };
  EXPECT_NEAR(product({2, 3, 5}).error, 2 * 30 * kFloatRoundoff, 1e-9);
  EXPECT_EQ(product({2, 3, 5}).value, 30);
  EXPECT_EQ(product({1e30, 1e-30, 1e30, 1e-30}).error, kUnbounded) << "a partial product is 1e60";
  EXPECT_TRUE(product({1e30, 1e30}).overflows) << "in any order";
  EXPECT_GE(product({1e-30, 1e-30, 1e30}).error, 1e-30) << "a partial product is 0";
  EXPECT_EQ(product({0, 2}).error, 0);
  EXPECT_EQ(product({0, 1e30, 1e30}).error, kUnbounded) << "0 * inf in some orders";
}

struct SmallResult {
  const char* op;
  double x, expected;
};

// A budget of a few roundoffs of max(1, |y|) would accept any small y.
TEST(ErrorBudget, SmallResultsHaveSmallBudgets) {
  const SmallResult results[] = {
      {"exp", -20, std::exp(-20.0)},
      {"sigmoid", -30, std::exp(-30.0)},
      {"silu", -30, -30 * std::exp(-30)},
      {"softplus", -20, std::log1p(std::exp(-20))},
      {"log1p", 0x1p-30, 0x1p-30},
      {"expm1", 0x1p-30, 0x1p-30},
      {"tanh", 0x1p-20, 0x1p-20},
      {"erf", 0x1p-20, std::erf(0x1p-20)},
      {"elu", -0x1p-30, -0x1p-30},
      {"sin", 0x1.921fb6p1, std::sin(0x1.921fb6p1)},
      {"log", 1 + 0x1p-20, std::log1p(0x1p-20)},
  };
  for (const SmallResult& r : results) {
    const auto budget = error_budget(kernel_op(r.op), {{{1, 1}, {r.x}}}, kFloat32, kFloat32);
    EXPECT_NEAR(budget.expected[0], r.expected, std::fabs(r.expected) * kFloatRoundoff) << r.op;
    EXPECT_LT(budget.allowed[0], 16 * kFloatRoundoff * std::fabs(r.expected)) << r.op;
  }
}

// (1 + erf(z)) / 2 is off by a roundoff of 1, erfc(-z) / 2 is not: both are correct.
TEST(ErrorBudget, GeluMayUseErfOrErfc) {
  const double x = -4, y = x * std::erfc(4 / std::sqrt(2.0)) / 2;
  const auto budget = error_budget(kernel_op("gelu"), {{{1, 1}, {x}}}, kFloat32, kFloat32);
  EXPECT_NEAR(budget.expected[0], y, 1e-15);
  EXPECT_GT(budget.allowed[0], 2 * kFloatRoundoff);
  EXPECT_LT(budget.allowed[0], 16 * kFloatRoundoff);
}

TEST(ErrorBudget, AnOverflowMustBeInfinite) {
  for (const auto& [op, x] : {std::pair{"exp", 100.0}, std::pair{"square", -1e30}}) {
    const auto budget = error_budget(kernel_op(op), {{{1, 1}, {x}}}, kFloat32, kFloat32);
    EXPECT_EQ(budget.expected[0], kUnbounded) << op;
    EXPECT_EQ(budget.allowed[0], 0) << op;
    const auto wider = error_budget(kernel_op(op), {{{1, 1}, {x}}}, kFloat16, kFloat32);
    EXPECT_EQ(wider.allowed[0], kUnbounded) << op << ": a kernel may accumulate more precisely";
  }
}

TEST(ErrorBudget, EveryOpHasOne) {
  for (const OpEntry& op : all_ops()) EXPECT_NO_THROW(kernel_op(op.name)) << op.name;
}

}  // namespace
}  // namespace halfgrad::testing
