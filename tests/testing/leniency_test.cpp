#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/testing/error_budget.h>
#include <halfgrad/testing/kernel_check.h>
#include <halfgrad/testing/kernel_report.h>
#include <halfgrad/tests/testing/planted/classes.h>

namespace halfgrad::testing {
namespace {

using planted::Call;
using planted::Index;

// A sum that flushes subnormals, one that ignores NaN, and one for small values.
TEST(Leniency, PermitsWhatTheContractSays) {
  const auto sum_of = [](float (*f)(float)) {
    return planted::rows([f](const Call& c, Index row) {
      float sum = 0;
      for (Index i = 0; i < c.k; ++i) sum += f(c.x(row, i));
      c.y(row, f(sum));
    });
  };
  const auto flushing = sum_of([](float x) { return std::fabs(x) < 0x1p-126f ? 0 : x; });
  const auto dropping = sum_of([](float x) { return std::isnan(x) ? 0 : x; });
  const auto small = sum_of([](float x) { return std::fabs(x) > 2e4f ? 0 : x; });
  const auto passes = [](const Kernel& kernel, const Leniency& leniency) {
    const KernelCheckOptions options{.dims = {{3, 1, 7}}, .leniency = leniency, .shrink = false};
    return check_kernel(kernel, "sum", options).passed();
  };
  EXPECT_FALSE(passes(flushing, {}));
  EXPECT_TRUE(passes(flushing, {.flush_subnormals = true}));
  EXPECT_FALSE(passes(dropping, {}));
  EXPECT_TRUE(passes(dropping, {.any_nan = true}));
  EXPECT_FALSE(passes(small, {}));
  EXPECT_TRUE(passes(small, {.max_abs = 1000}));
}

TEST(Leniency, Tf32RoundsTheFactorsOfProducts) {
  const auto allowed = [](const Leniency& leniency) {
    const std::vector<Values> operands{{{1, 2}, {1, 2}}, {{2, 1}, {3, 4}}};
    return error_budget(kernel_op("mm"), operands, kFloat32, kFloat32, leniency).allowed[0];
  };
  EXPECT_LT(allowed({}), 1e-5);
  EXPECT_NEAR(allowed({.tf32 = true}), 11 * 0x1p-10, 1e-4);
}

/// Applies f to each element.
Kernel elementwise(std::function<float(float)> f) {
  return planted::called([f = std::move(f)](const Call& c) {
    for (Index i = 0; i < c.n(); ++i) c.y(i, f(c.x(i)));
  });
}

bool passes_alone(const Kernel& kernel, const char* op, const Leniency& leniency) {
  const KernelCheckOptions options{.dims = {{3, 1, 37}}, .leniency = leniency, .shrink = false};
  const KernelReport report = check_kernel(kernel, op, options);
  return report.passed();
}

float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

/// 2^x as ex2.approx.ftz.f32 computes it, but for its own error.
float exp2_approx(float x) {
  return flushed(static_cast<float>(std::exp2(static_cast<double>(flushed(x)))));
}

struct Fast {
  const char* op;
  std::function<float(float)> fast;   ///< the function of --use_fast_math
  std::function<float(float)> wrong;  ///< too inexact for it, too
};

TEST(FastMath, PermitsTheIntrinsicsOfCuda) {
  const Fast functions[] = {
      {"exp", [](float x) { return exp2_approx(x * 1.44269504f); },
       [](float x) { return exp2_approx(x * 1.4427f); }},
      {"log",
       [](float x) {
         const float y = static_cast<float>(std::log2(static_cast<double>(flushed(x))));
         return std::fabs(y) <= 1 ? y * 0.69314718f + 0x1p-22f : y * 0.69314718f;
       },
       [](float x) { return std::log(flushed(x)) + 0x1p-19f; }},
      {"tanh",
       [](float x) { return std::tanh(flushed(x)) * (std::isfinite(x) ? 1 - 0x1p-12f : 1); },
       [](float x) { return std::tanh(flushed(x)) * (std::isfinite(x) ? 1 - 0x1p-9f : 1); }},
      {"cos",
       [](float x) {
         if (!std::isfinite(x)) return x - x;
         return std::fabs(x) <= 3.14159f ? std::cos(flushed(x)) - 0x1p-22f : 0.5f;
       },
       [](float x) { return std::cos(flushed(x)) - 0x1p-18f; }},
  };
  for (const auto& [op, fast, wrong] : functions) {
    EXPECT_FALSE(passes_alone(elementwise(fast), op, {.flush_subnormals = true})) << op;
    EXPECT_TRUE(passes_alone(elementwise(fast), op, {.fast_math = true})) << op;
    EXPECT_FALSE(passes_alone(elementwise(wrong), op, {.fast_math = true})) << op;
  }
}

TEST(FastMath, IsForIntermediateResultsInFloat32) {
  const auto allowed = [](DType accumulate, const Leniency& leniency) {
    const std::vector<Values> operands{{{1}, {20}}};
    return error_budget(kernel_op("exp"), operands, accumulate, accumulate, leniency).allowed[0];
  };
  EXPECT_GT(allowed(kFloat32, {.fast_math = true}), 5 * allowed(kFloat32, {}));
  EXPECT_EQ(allowed(kFloat64, {.fast_math = true}), allowed(kFloat64, {}));
}

/// The sum of a row in another order in each call, of all terms but `left_out`.
Kernel shuffled_sum(std::function<Index(std::mt19937&)> left_out) {
  return planted::rows([left_out](const Call& c, Index row) {
    static std::mt19937 random;
    std::vector<Index> order(static_cast<std::size_t>(c.k));
    std::iota(order.begin(), order.end(), Index{0});
    std::shuffle(order.begin(), order.end(), random);
    const Index lost = left_out(random);
    float sum = 0;
    for (const Index i : order) sum += i == lost ? 0 : c.x(row, i);
    c.y(row, sum);
  });
}

TEST(AnyOrder, PermitsCallsThatDifferWithinTheBudget) {
  const Kernel atomic = shuffled_sum([](std::mt19937&) { return -1; });
  EXPECT_FALSE(passes_alone(atomic, "sum", {}));
  EXPECT_TRUE(passes_alone(atomic, "sum", {.any_order = true}));
  // A race that loses a term in one call of 500.
  const Kernel race =
      shuffled_sum([](std::mt19937& random) { return random() % 500 == 0 ? Index{0} : Index{-1}; });
  EXPECT_FALSE(passes_alone(race, "sum", {.any_order = true}));
}

}  // namespace
}  // namespace halfgrad::testing
