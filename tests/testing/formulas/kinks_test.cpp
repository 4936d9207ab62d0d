// Formulas at the points where they jump or bend, and their gradients there.
#include <cmath>
#include <limits>
#include <memory>

#include <gtest/gtest.h>

#include <halfgrad/testing/kernel_formula.h>
#include <halfgrad/testing/kernel_report.h>
#include <halfgrad/tests/testing/planted/call.h>

namespace halfgrad::testing {
namespace {

using In = std::vector<BoundedArray>;
using planted::Call;
using planted::each;

KernelReport checked(const Kernel& kernel, const KernelFormula& formula) {
  return check_kernel(kernel, formula, {.repeat = 0});
}

// x above 5, else 0: only x = 5 tells > from >=.
TEST(FormulaKinks, AConstantIsDrawnExactly) {
  const KernelFormula jump{.name = "jump", .inputs = {{"m", "n"}}, .reference = [](const In& x) {
                             return where(x[0] > 5.0, x[0], zeros_like(x[0]));
                           }};
  EXPECT_TRUE(checked(each([](float x, float) { return x > 5 ? x : 0; }), jump).passed());
  EXPECT_FALSE(checked(each([](float x, float) { return x >= 5 ? x : 0; }), jump).passed());
}

KernelFormula relu6_backward() {
  return gradient({.name = "relu6",
                   .inputs = {{"m", "n"}},
                   .reference = [](const In& x) { return clamp(x[0], 0, 6); }},
                  0);
}

TEST(FormulaKinks, AGradientAtTheBoundOfAClampIsThatOfAnyLibtorch) {
  const auto open = each([](float x, float dy) { return x > 0 && x < 6 ? dy : 0; });
  const auto closed = each([](float x, float dy) { return x < 0 || x > 6 ? 0 : dy; });
  const auto of_relu = each([](float x, float dy) { return x < 0 ? 0 : dy; });
  const auto early = each([](float x, float dy) { return x > 0 && x < 5.99f ? dy : 0; });
  EXPECT_TRUE(checked(open, relu6_backward()).passed());
  EXPECT_TRUE(checked(closed, relu6_backward()).passed());
  EXPECT_FALSE(checked(of_relu, relu6_backward()).passed());
  EXPECT_FALSE(checked(early, relu6_backward()).passed());
}

KernelFormula amax_backward() {
  return gradient({.name = "amax",
                   .inputs = {{"m", "k"}},
                   .reference = [](const In& x) { return amax(x[0], {1}); },
                   .least = {0, 0, 1}},
                  0);
}

// The largest elements of a row share dy, or the first gets all.
Kernel of_largest(bool shared) {
  return planted::rows([=](const Call& c, std::int64_t row) {
    float most = c.x(row, 0), count = 0.0f;
    for (std::int64_t i = 1; i < c.k; ++i) {
      most = std::isnan(most) || c.x(row, i) <= most ? most : c.x(row, i);
    }
    for (std::int64_t i = 0; i < c.k; ++i) count += c.x(row, i) == most ? 1.0f : 0.0f;
    float left = shared ? count : 1.0f;
    for (std::int64_t i = 0; i < c.k; ++i) {
      const bool is_largest = c.x(row, i) == most && left > 0;
      c.y(row * c.k + i, c.w(row) * ((is_largest ? 1.0f : 0.0f) / (shared ? count : 1.0f)));
      left -= is_largest ? 1.0f : 0.0f;
    }
  });
}

TEST(FormulaKinks, AGradientOfRowsThatMayNotBeEmptyIsChecked) {
  EXPECT_TRUE(checked(of_largest(true), amax_backward()).passed())
      << to_text(checked(of_largest(true), amax_backward()));
  EXPECT_FALSE(checked(of_largest(false), amax_backward()).passed());
}

// The gradient of a product of 33001 elements takes as many steps, not their square.
TEST(FormulaKinks, TheGradientOfALongProductIsTheProductOfTheOthers) {
  constexpr std::int64_t kLength = 33'001;
  Values x{{1, kLength}, {}};
  double product = 1;
  for (std::int64_t i = 0; i < kLength; ++i) {
    x.data.push_back(1 + 1e-5 * static_cast<double>(i % 7 - 3));
    product *= x.data.back();
  }
  const auto arithmetic = std::make_shared<BoundedArithmetic>(kFloat64, kFloat64);
  const BoundedArray row = variable(BoundedArray(arithmetic, x));
  const BoundedArray one(arithmetic, Values{{1}, {1}});
  const BoundedArray dx = gradient(prod(row, 1), {row}, one)[0];
  for (std::int64_t i = 0; i < kLength; i += 1000) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_NEAR(dx.elements()[at].value, product / x.data[at], 1e-10) << i;
    EXPECT_LT(dx.elements()[at].error, 1e-10) << i;
  }
}

}  // namespace
}  // namespace halfgrad::testing
