#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>

#include "float_operands.h"

namespace halfgrad::emulator {
namespace {

/// The host's result under a rounding mode, computed where the compiler cannot fold it.
template <class T, class F>
T on_host(int mode, F f, T a, T b, T c) {
  volatile T x = a, y = b, z = c;
  std::fesetround(mode);
  volatile T result = f(x, y, z);
  std::fesetround(FE_TONEAREST);
  return result;
}

template <class F>
void expect_floats(const std::string& instruction, F f) {
  const auto in = close_floats(kCases);
  for (const Mode& mode : kModes) {
    const Words got = run_ptx(
        with_mode(instruction, mode.name) + "mov.b32 %tw0, %tf0; cvt.u64.u32 %result, %tw0;", in);
    for (std::size_t i = 0; i < kCases; ++i) {
      const auto operand = [&](int k) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(in[k][i]));
      };
      const float wanted = on_host<float>(mode.host, f, operand(0), operand(1), operand(2));
      const auto bits = std::isnan(wanted) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(wanted);
      ASSERT_EQ(got[i], bits) << instruction << mode.name << " " << std::hexfloat << operand(0)
                              << " " << operand(1) << " " << operand(2);
    }
  }
}

TEST(FloatInstructions, SinglesInEveryRoundingMode) {
  expect_floats("add.MODE.f32 %tf0, %f0, %f1;", [](float a, float b, float) { return a + b; });
  expect_floats("sub.MODE.f32 %tf0, %f0, %f1;", [](float a, float b, float) { return a - b; });
  expect_floats("mul.MODE.f32 %tf0, %f0, %f1;", [](float a, float b, float) { return a * b; });
  expect_floats("div.MODE.f32 %tf0, %f0, %f1;", [](float a, float b, float) { return a / b; });
  expect_floats("rcp.MODE.f32 %tf0, %f0;", [](float a, float, float) { return 1.0f / a; });
  expect_floats("sqrt.MODE.f32 %tf0, %f0;", [](float a, float, float) { return std::sqrt(a); });
  expect_floats("fma.MODE.f32 %tf0, %f0, %f1, %f2;",
                [](float a, float b, float c) { return std::fma(a, b, c); });
}

template <class F>
void expect_doubles(const std::string& instruction, F f) {
  const auto in = operands(3, kCases, 9);
  for (const Mode& mode : kModes) {
    const Words got = run_ptx(with_mode(instruction, mode.name) + "mov.b64 %result, %td0;", in);
    for (std::size_t i = 0; i < kCases; ++i) {
      const auto operand = [&](int k) { return std::bit_cast<double>(in[k][i]); };
      const double wanted = on_host<double>(mode.host, f, operand(0), operand(1), operand(2));
      if (std::isnan(wanted)) {
        ASSERT_TRUE(std::isnan(std::bit_cast<double>(got[i])));
      } else {
        ASSERT_EQ(got[i], std::bit_cast<std::uint64_t>(wanted)) << instruction << mode.name;
      }
    }
  }
}

TEST(FloatInstructions, DoublesInEveryRoundingMode) {
  expect_doubles("add.MODE.f64 %td0, %d0, %d1;", [](double a, double b, double) { return a + b; });
  expect_doubles("mul.MODE.f64 %td0, %d0, %d1;", [](double a, double b, double) { return a * b; });
  expect_doubles("div.MODE.f64 %td0, %d0, %d1;", [](double a, double b, double) { return a / b; });
  expect_doubles("sqrt.MODE.f64 %td0, %d0;", [](double a, double, double) { return std::sqrt(a); });
  expect_doubles("fma.MODE.f64 %td0, %d0, %d1, %d2;",
                 [](double a, double b, double c) { return std::fma(a, b, c); });
}

std::uint32_t run_single(const std::string& body, float a, float b = 0, float c = 0) {
  const auto word = [](float x) { return Words{std::bit_cast<std::uint32_t>(x)}; };
  const Words got =
      run_ptx(body + "mov.b32 %tw0, %tf0; cvt.u64.u32 %result, %tw0;", {word(a), word(b), word(c)});
  return static_cast<std::uint32_t>(got[0]);
}

TEST(FloatInstructions, ModifiersFlushSaturateAndChooseBetweenNan) {
  const float nan = std::nanf(""), subnormal = 1e-40f;
  EXPECT_EQ(run_single("add.ftz.f32 %tf0, %f0, %f1;", subnormal, -0.0f), 0u);
  EXPECT_EQ(run_single("mul.ftz.f32 %tf0, %f0, %f1;", -1e-30f, 1e-10f), 0x80000000u);
  EXPECT_EQ(run_single("add.sat.f32 %tf0, %f0, %f1;", 1, 1), 0x3f800000u);
  EXPECT_EQ(run_single("add.sat.f32 %tf0, %f0, %f1;", nan, 1), 0u);
  EXPECT_EQ(run_single("min.f32 %tf0, %f0, %f1;", nan, 2), std::bit_cast<std::uint32_t>(2.0f));
  EXPECT_EQ(run_single("min.f32 %tf0, %f0, %f1;", 0.0f, -0.0f), 0x80000000u);
  EXPECT_EQ(run_single("max.f32 %tf0, %f0, %f1;", -0.0f, 0.0f), 0u);
  EXPECT_EQ(run_single("max.NaN.f32 %tf0, %f0, %f1;", nan, 2), 0x7fffffffu);
  EXPECT_EQ(run_single("max.f32 %tf0, %f0, %f1;", nan, nan), 0x7fffffffu);
  EXPECT_EQ(run_single("min.xorsign.abs.f32 %tf0, %f0, %f1;", -3, 2),
            std::bit_cast<std::uint32_t>(-2.0f));
  EXPECT_EQ(run_single("max.f32 %tf0, %f0, %f1, %f2;", 1, 3, 2),
            std::bit_cast<std::uint32_t>(3.0f));
  EXPECT_EQ(run_single("neg.f32 %tf0, %f0;", 1), 0xbf800000u);
  EXPECT_EQ(run_single("copysign.f32 %tf0, %f0, %f1;", -1, 2), 0xc0000000u);
  EXPECT_EQ(run_single("ex2.approx.f32 %tf0, %f0;", 3), std::bit_cast<std::uint32_t>(8.0f));
  EXPECT_EQ(run_single("lg2.approx.f32 %tf0, %f0;", 8), std::bit_cast<std::uint32_t>(3.0f));
  EXPECT_EQ(run_single("rsqrt.approx.ftz.f32 %tf0, %f0;", subnormal), 0x7f800000u);
}

}  // namespace
}  // namespace halfgrad::emulator
