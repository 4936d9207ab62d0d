#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>

#include "../run_ptx.h"

namespace halfgrad::emulator {
namespace {

constexpr std::size_t kCases = 300'000;
struct Mode {
  const char* name;
  int host;
};
constexpr Mode kModes[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

std::string with_mode(std::string text, const char* mode) {
  for (std::size_t at; (at = text.find("MODE")) != std::string::npos;) text.replace(at, 4, mode);
  return text;
}

/// The host's result under a rounding mode, computed where the compiler cannot fold it.
template <class T, class F>
T on_host(int mode, F f, T a, T b, T c) {
  volatile T x = a, y = b, z = c;
  std::fesetround(mode);
  volatile T result = f(x, y, z);
  std::fesetround(FE_TONEAREST);
  return result;
}

/// Operands of f32 with exponents that meet: random bits alone seldom round.
std::vector<Words> close_floats(std::size_t count) {
  auto in = operands(3, count, 5);
  for (std::size_t i = count / 2; i < count; ++i) {
    const std::uint64_t exponent = in[0][i] & 0x7f800000;
    for (auto& array : in) {
      array[i] =
          (array[i] & 0x807fffff) | ((exponent + ((array[i] >> 40) % 26 << 23)) & 0x7f800000);
    }
  }
  return in;
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

// All finite values of a 16-bit format in order, to round to by comparing distances.
struct Table {
  std::vector<std::pair<long double, std::uint16_t>> values;

  Table(int exponent_bits, int mantissa_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int end = ((1 << exponent_bits) - 1) << mantissa_bits;
    for (int bits = 0; bits < end; ++bits) {
      const int exponent = bits >> mantissa_bits, fraction = bits & ((1 << mantissa_bits) - 1);
      const int significand = exponent == 0 ? fraction : fraction + (1 << mantissa_bits);
      values.emplace_back(std::ldexp(static_cast<long double>(significand),
                                     std::max(exponent, 1) - bias - mantissa_bits),
                          bits);
    }
    values.emplace_back(std::ldexp(1.0L, bias + 1), end);  // infinity
  }
  std::uint16_t nearest(long double x) const {
    if (std::isnan(x)) return 0x7fff;
    const long double magnitude = std::fabs(x);
    const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    const auto above =
        std::lower_bound(values.begin(), values.end(), std::pair(magnitude, std::uint16_t{0}));
    if (above == values.end()) return static_cast<std::uint16_t>(values.back().second | sign);
    if (above == values.begin()) return sign;
    const auto below = above - 1;
    const long double up = above->first - magnitude, down = magnitude - below->first;
    const bool takes_upper = up < down || (up == down && (above->second & 1) == 0);
    return static_cast<std::uint16_t>((takes_upper ? above : below)->second | sign);
  }
  long double value(std::uint16_t bits) const {
    const std::size_t magnitude = bits & 0x7fff;
    const long double x = magnitude + 1 < values.size()    ? values[magnitude].first
                          : magnitude + 1 == values.size() ? INFINITY
                                                           : NAN;
    return (bits & 0x8000) != 0 ? -x : x;
  }
};

template <class F>
void expect_halves(const Table& table, const std::string& instruction, F f) {
  const auto in = operands(3, kCases, 3);
  const Words got = run_ptx(instruction + "cvt.u64.u16 %result, %th0;", in);
  for (std::size_t i = 0; i < kCases; ++i) {
    const auto operand = [&](int k) { return table.value(static_cast<std::uint16_t>(in[k][i])); };
    ASSERT_EQ(got[i], table.nearest(f(operand(0), operand(1), operand(2))))
        << instruction << std::hex << " " << (in[0][i] & 0xffff) << " " << (in[1][i] & 0xffff)
        << " " << (in[2][i] & 0xffff);
  }
}

TEST(HalfInstructions, RoundOnce) {
  const Table f16(5, 10), bf16(8, 7);
  using Real = long double;
  const auto add = [](Real a, Real b, Real) { return a + b; };
  const auto multiply = [](Real a, Real b, Real) { return a * b; };
  // An inexact sum that ends in an even bit moves towards its error, so that it is no tie.
  const auto fused = [](Real a, Real b, Real c) {
    const Real product = a * b, sum = product + c, of_c = sum - product;
    const Real error = (product - (sum - of_c)) + (c - of_c);
    std::uint64_t significand = 0;
    std::memcpy(&significand, &sum, sizeof significand);
    const bool inexact = (error > 0 || error < 0) && significand % 2 == 0;
    return inexact ? std::nextafter(sum, error > 0 ? INFINITY : -INFINITY) : sum;
  };
  expect_halves(f16, "add.f16 %th0, %h0, %h1;", add);
  expect_halves(f16, "mul.rn.f16 %th0, %h0, %h1;", multiply);
  expect_halves(f16, "fma.rn.f16 %th0, %h0, %h1, %h2;", fused);
  expect_halves(bf16, "add.rn.bf16 %th0, %h0, %h1;", add);
  expect_halves(bf16, "mul.bf16 %th0, %h0, %h1;", multiply);
  expect_halves(bf16, "fma.rn.bf16 %th0, %h0, %h1, %h2;", fused);
}

TEST(HalfInstructions, ConversionsFromEveryWiderType) {
  const Table f16(5, 10), bf16(8, 7);
  const auto in = close_floats(kCases);
  const auto test = [&](const Table& table, const std::string& instruction, auto value) {
    const Words got = run_ptx(instruction + "cvt.u64.u16 %result, %th0;", in);
    for (std::size_t i = 0; i < kCases; ++i) {
      ASSERT_EQ(got[i], table.nearest(value(in[0][i]))) << instruction << std::hex << in[0][i];
    }
  };
  const auto single = [](std::uint64_t x) -> long double {
    return std::bit_cast<float>(static_cast<std::uint32_t>(x));
  };
  const auto wide = [](std::uint64_t x) -> long double { return std::bit_cast<double>(x); };
  test(f16, "cvt.rn.f16.f32 %th0, %f0;", single);
  test(bf16, "cvt.rn.bf16.f32 %th0, %f0;", single);
  test(f16, "cvt.rn.f16.f64 %th0, %d0;", wide);
  test(f16, "cvt.rn.f16.s64 %th0, %a0;",
       [](std::uint64_t x) -> long double { return static_cast<std::int64_t>(x); });
  test(bf16, "cvt.rn.bf16.u32 %th0, %w0;",
       [](std::uint64_t x) -> long double { return static_cast<std::uint32_t>(x); });
}

TEST(HalfInstructions, EveryHalfWidensExactly) {
  const Table f16(5, 10), bf16(8, 7);
  Words all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  const auto test = [&](const Table& table, const std::string& instruction) {
    const Words got =
        run_ptx(instruction + "mov.b32 %tw0, %tf0; cvt.u64.u32 %result, %tw0;", {all});
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto wanted = static_cast<float>(table.value(static_cast<std::uint16_t>(i)));
      ASSERT_EQ(got[i], std::isnan(wanted) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(wanted))
          << i;
    }
  };
  test(f16, "cvt.f32.f16 %tf0, %h0;");
  test(bf16, "cvt.f32.bf16 %tf0, %h0;");
}

TEST(HalfInstructions, PackedPairsAndModifiers) {
  const auto run = [](const std::string& body, std::uint64_t a, std::uint64_t b,
                      std::uint64_t c = 0) {
    return run_ptx(body + "cvt.u64.u32 %result, %tw0;", {{a}, {b}, {c}})[0];
  };
  EXPECT_EQ(run("add.f16x2 %tw0, %w0, %w1;", 0x3c004000, 0x3c003c00), 0x40004200u);
  EXPECT_EQ(run("fma.rn.relu.f16x2 %tw0, %w0, %w1, %w2;", 0x3c00bc00, 0x3c003c00), 0x3c000000u);
  EXPECT_EQ(run("add.sat.f16x2 %tw0, %w0, %w1;", 0x7e004000, 0), 0x00003c00u);
  EXPECT_EQ(run("max.NaN.bf16x2 %tw0, %w0, %w1;", 0x7fc03f80, 0x3f804000), 0x7fff4000u);
  EXPECT_EQ(run("ex2.approx.ftz.bf16x2 %tw0, %w0;", 0x4000c300, 0), 0x40800000u);
  EXPECT_EQ(run("tanh.approx.f16x2 %tw0, %w0;", 0x7c000000, 0), 0x3c000000u);
  EXPECT_EQ(run("neg.bf16x2 %tw0, %w0;", 0x3f80bf80, 0), 0xbf803f80u);
  EXPECT_EQ(run("cvt.rn.f16x2.f32 %tw0, %f0, %f1;", 0x3f800000, 0x40000000), 0x3c004000u);
  EXPECT_EQ(run("cvt.rn.satfinite.e4m3x2.f32 %th0, %f0, %f1; cvt.u32.u16 %tw0, %th0;", 0x44000000,
                0xbf800000),
            0x7eb8u);
  EXPECT_EQ(run("cvt.rn.satfinite.e5m2x2.f32 %th0, %f0, %f1; cvt.u32.u16 %tw0, %th0;", 0x7fc00000,
                0x47c00000),
            0x7f7bu);
  EXPECT_EQ(run("cvt.rna.tf32.f32 %tw0, %f0;", 0x3f801000, 0), 0x3f802000u);
  EXPECT_EQ(run("cvt.rn.tf32.f32 %tw0, %f0;", 0x3f801000, 0), 0x3f800000u);
}

TEST(HalfInstructions, EveryPairOfEightBitsWidens) {
  Words all(256);
  for (std::size_t i = 0; i < 256; ++i) all[i] = i;
  const auto check = [&](const std::string& type, int exponent_bits, int mantissa_bits) {
    const Words got =
        run_ptx("cvt.rn.f16x2." + type + " %tw0, %h0; cvt.u64.u32 %result, %tw0;", {all});
    const Table f16(5, 10);
    for (int i = 0; i < 256; ++i) {
      const int bias = (1 << (exponent_bits - 1)) - 1, m = i & ((1 << mantissa_bits) - 1);
      const int e = i >> mantissa_bits & ((1 << exponent_bits) - 1);
      long double x = std::ldexp(static_cast<long double>(e == 0 ? m : m + (1 << mantissa_bits)),
                                 std::max(e, 1) - bias - mantissa_bits);
      const bool all_ones = e == (1 << exponent_bits) - 1;
      if (mantissa_bits == 2 && all_ones) x = m == 0 ? INFINITY : NAN;
      if (mantissa_bits == 3 && all_ones && m == 7) x = NAN;
      EXPECT_EQ(got[i], f16.nearest((i & 128) != 0 ? -x : x)) << type << " " << i;
    }
  };
  check("e4m3x2", 4, 3);
  check("e5m2x2", 5, 2);
}

template <class T>
T clamped(long double x, T of_nan) {
  if (std::isnan(x)) return of_nan;
  if (x <= static_cast<long double>(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  if (x >= static_cast<long double>(std::numeric_limits<T>::max()))
    return std::numeric_limits<T>::max();
  return static_cast<T>(x);
}

TEST(Conversions, FloatsToIntegersClamp) {
  const auto in = close_floats(kCases);
  const auto test = [&](const std::string& body, auto wanted) {
    const Words got = run_ptx(body, in);
    for (std::size_t i = 0; i < kCases; ++i)
      ASSERT_EQ(got[i], wanted(in[0][i])) << body << std::hex << in[0][i];
  };
  const auto single = [](std::uint64_t x) -> long double {
    return std::bit_cast<float>(static_cast<std::uint32_t>(x));
  };
  const auto wide = [](std::uint64_t x) -> long double { return std::bit_cast<double>(x); };
  test("cvt.rzi.s32.f32 %tw0, %f0; cvt.u64.u32 %result, %tw0;", [&](auto x) {
    return static_cast<std::uint32_t>(clamped<std::int32_t>(std::trunc(single(x)), 0));
  });
  test("cvt.rni.u32.f32 %tw0, %f0; cvt.u64.u32 %result, %tw0;",
       [&](auto x) { return clamped<std::uint32_t>(std::nearbyint(single(x)), 0); });
  test("cvt.rmi.s32.f64 %tw0, %d0; cvt.u64.u32 %result, %tw0;", [&](auto x) {
    return static_cast<std::uint32_t>(clamped<std::int32_t>(std::floor(wide(x)), INT32_MIN));
  });
  test("cvt.rpi.s64.f64 %result, %d0;", [&](auto x) {
    return static_cast<std::uint64_t>(clamped<std::int64_t>(std::ceil(wide(x)), INT64_MIN));
  });
  test("cvt.rzi.u64.f32 %result, %f0;", [&](auto x) {
    return clamped<std::uint64_t>(std::trunc(single(x)), std::uint64_t{1} << 63);
  });
  test("cvt.rzi.s16.f32 %th0, %f0; cvt.u64.u16 %result, %th0;", [&](auto x) {
    return static_cast<std::uint16_t>(clamped<std::int16_t>(std::trunc(single(x)), 0));
  });
}

TEST(Conversions, IntegersToFloatsInEveryRoundingMode) {
  const auto in = operands(1, kCases, 4);
  for (const Mode& mode : kModes) {
    const auto test = [&]<class Result, class Source>(std::string body, Result, Source) {
      const Words got = run_ptx(with_mode(body, mode.name), in);
      for (std::size_t i = 0; i < kCases; ++i) {
        volatile Source x = static_cast<Source>(in[0][i]);
        std::fesetround(mode.host);
        volatile Result result = static_cast<Result>(x);
        std::fesetround(FE_TONEAREST);
        const Result wanted = result;
        using Bits = std::conditional_t<sizeof(Result) == 4, std::uint32_t, std::uint64_t>;
        ASSERT_EQ(got[i], std::bit_cast<Bits>(wanted)) << body << mode.name << std::hex << in[0][i];
      }
    };
    const std::string out = "mov.b32 %tw0, %tf0; cvt.u64.u32 %result, %tw0;";
    test("cvt.MODE.f32.s32 %tf0, %w0;" + out, float{}, std::int32_t{});
    test("cvt.MODE.f32.s64 %tf0, %a0;" + out, float{}, std::int64_t{});
    test("cvt.MODE.f64.s64 %td0, %a0; mov.b64 %result, %td0;", double{}, std::int64_t{});
  }
}

}  // namespace
}  // namespace halfgrad::emulator
