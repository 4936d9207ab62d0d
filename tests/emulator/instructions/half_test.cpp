#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>

#include "float_operands.h"

namespace halfgrad::emulator {
namespace {

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

}  // namespace
}  // namespace halfgrad::emulator
