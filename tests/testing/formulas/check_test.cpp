// Kernels against formulas: faults are found, right kernels pass.
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/testing/kernel_formula.h>
#include <halfgrad/testing/kernel_report.h>
#include <halfgrad/tests/message_of.h>
#include <halfgrad/tests/testing/planted/call.h>

namespace halfgrad::testing {
namespace {

using In = std::vector<BoundedArray>;
using planted::Call;
using planted::called;

/// y = tanh(x) w + b, over rows
KernelFormula scaled_tanh() {
  return {.name = "scaled_tanh",
          .inputs = {{"m", "k"}, {"k"}, {"k"}},
          .reference = [](const In& x) { return tanh(x[0]) * x[1] + x[2]; }};
}

template <class F>
Kernel scaled(const F& f) {
  return called([f](const Call& c) {
    for (std::int64_t i = 0; i < c.n(); ++i) c.y(i, f(c, c.x(i), i));
  });
}

float exact_tanh(float x) { return static_cast<float>(std::tanh(static_cast<double>(x))); }

const Kernel& right() {
  static const Kernel kernel = scaled([](const Call& c, float x, std::int64_t i) {
    return exact_tanh(x) * c.w(i % c.k) + c.b(i % c.k);
  });
  return kernel;
}

TEST(Formula, RightKernelPassesInEveryDtype) {
  for (const DType dtype : {kFloat32, kFloat16, kBFloat16}) {
    const KernelReport report = check_kernel(right(), scaled_tanh(), {.dtype = dtype});
    EXPECT_TRUE(report.passed()) << to_text(report);
    EXPECT_EQ(report.op, "scaled_tanh");
    EXPECT_GT(report.worst.used, 0.1) << to_text(report);
  }
}

TEST(Formula, WrongKernelsAreFoundAndMadeSmaller) {
  const Kernel other_weight = scaled(
      [](const Call& c, float x, std::int64_t i) { return exact_tanh(x) * c.w(0) + c.b(i % c.k); });
  const KernelReport report = check_kernel(other_weight, scaled_tanh());
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].fault, Fault::wrong_value);
  ASSERT_TRUE(report.shrunk);
  EXPECT_EQ(report.shrunk->dims.k, 2) << to_text(report);
  // 1 - 2 / (e^2x + 1) cancels for small x.
  const Kernel cancelling = scaled([](const Call& c, float x, std::int64_t i) {
    const float t = 1 - 2 / (std::exp(2 * x) + 1);
    return t * c.w(i % c.k) + c.b(i % c.k);
  });
  EXPECT_FALSE(check_kernel(cancelling, scaled_tanh(), {.shrink = false}).passed());
}

TEST(Formula, KernelInAProcessOfItsOwnMayCrash) {
  const Kernel reads_on = scaled([](const Call& c, float x, std::int64_t i) {
    return exact_tanh(x) * c.w(i % c.k) + c.b(i % c.k) + 0 * c.w(c.k + 4096);
  });
  const KernelReport report =
      check_kernel(reads_on, scaled_tanh(), {.shrink = false, .own_process = true});
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].fault, Fault::out_of_bounds);
}

/// a^2 - b^2 by either formula.
KernelFormula difference(bool allows_both) {
  return {.name = "difference_of_squares",
          .inputs = {{"m", "n"}, {"m", "n"}},
          .reference = [allows_both](const In& x) {
            const BoundedArray best = (x[0] - x[1]) * (x[0] + x[1]);
            return allows_both ? either(best, x[0] * x[0] - x[1] * x[1]) : best;
          }};
}

TEST(Formula, EitherAllowsTwoFormulas) {
  const Kernel squares = planted::each([](float a, float b) { return a * a - b * b; });
  const Kernel factors = planted::each([](float a, float b) { return (a - b) * (a + b); });
  const KernelCheckOptions options{.without = {Hostile::near_max, Hostile::uniform_exponent},
                                   .shrink = false};
  EXPECT_FALSE(check_kernel(squares, difference(false), options).passed());
  for (const Kernel& kernel : {squares, factors}) {
    const KernelReport report = check_kernel(kernel, difference(true), options);
    EXPECT_TRUE(report.passed()) << to_text(report);
  }
}

// (x r) w + b and x (r w) + b differ by roundings that both budgets allow.
TEST(Formula, FusedNormPasses) {
  const KernelFormula residual_norm{
      .name = "add_rms_norm",
      .inputs = {{"m", "k"}, {"m", "k"}, {"k"}},
      .reference = [](const In& x) { return rms_norm(x[0] + x[1], x[2].sizes(), x[2]); }};
  const Kernel fused = called([](const Call& c) {
    for (std::int64_t row = 0; row < c.m; ++row) {
      float squares = 0;
      for (std::int64_t i = 0; i < c.k; ++i) {
        const float x = c.x(row, i) + c.w(row * c.k + i);
        squares += x * x;
      }
      const float r = 1 / std::sqrt(squares / static_cast<float>(c.k) + 1e-5F);
      for (std::int64_t i = 0; i < c.k; ++i) {
        c.y(row * c.k + i, (c.x(row, i) + c.w(row * c.k + i)) * r * c.b(i));
      }
    }
  });
  for (const DType dtype : {kFloat32, kFloat16}) {
    const KernelReport report = check_kernel(fused, residual_norm, {.dtype = dtype});
    EXPECT_TRUE(report.passed()) << to_text(report);
  }
}

TEST(Formula, GradientChecksABackwardKernel) {
  const KernelFormula backward = gradient(scaled_tanh(), 0);
  const auto kernel = [](bool forgets_square) {
    return called([=](const Call& c) {
      for (std::int64_t i = 0; i < c.n(); ++i) {
        const float t = exact_tanh(c.x(i));
        const float dy = planted::element(c.in[3], i) * c.w(i % c.k);
        c.y(i, dy * (1 - (forgets_square ? t : t * t)));
      }
    });
  };
  const KernelReport report = check_kernel(kernel(false), backward);
  EXPECT_TRUE(report.passed()) << to_text(report);
  EXPECT_FALSE(check_kernel(kernel(true), backward, {.shrink = false}).passed());
}

TEST(Formula, IndicesAreInRangeAndMaskedRowsAreExact) {
  const KernelFormula rows{
      .name = "masked_rows",
      .inputs = {{"k", "n"},
                 FormulaInput({"m"}).indices_below("k"),
                 FormulaInput({"m", 1}).booleans()},
      .reference = [](const In& x) { return masked_fill(index_select(x[0], 0, x[1]), x[2], 0); },
      .exact = true};
  EXPECT_EQ(kernel_op(rows).least.k, 1);
  const Kernel kernel = called([](const Call& c) {
    const std::int64_t n = c.out.size(1);
    const bool* mask = c.in[2].data_as<bool>();
    for (std::int64_t i = 0; i < c.n(); ++i) {
      const auto row = static_cast<std::int64_t>(c.w(i / n));
      c.y(i, mask[i / n] ? 0 : c.x(row * n + i % n));
    }
  });
  // An index of 299 is not one of bfloat16's values.
  for (const DType dtype : {kFloat32, kBFloat16}) {
    const KernelReport report = check_kernel(kernel, rows, {.dtype = dtype});
    EXPECT_TRUE(report.passed()) << to_text(report);
  }
}

TEST(Formula, MistakesAreNamed) {
  const KernelFormula wrong{.name = "wrong",
                            .inputs = {{"m", "k"}, {"n", "k"}},
                            .reference = [](const In& x) { return matmul(x[0], x[1]); }};
  EXPECT_EQ(message_of<std::invalid_argument>([&] { kernel_op(wrong); }),
            "matmul: expected [..., m, k] and [..., k, n], got [5, 7] and [3, 7]");
  EXPECT_EQ(message_of<std::invalid_argument>([] { FormulaInput({"rows"}); }),
            "FormulaSize: expected m, n or k, got rows");
  EXPECT_THROW(kernel_op(KernelFormula{}), std::invalid_argument);
  EXPECT_THROW(gradient(scaled_tanh(), 3), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::testing
