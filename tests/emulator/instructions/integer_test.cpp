#include <gtest/gtest.h>

#include "integer_operands.h"

namespace halfgrad::emulator {
namespace {

template <class T>
T clamped(int64_t x) {
  return static_cast<T>(
      std::clamp<int64_t>(x, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

TEST(IntegerInstructions, AddSubtractAndSaturate) {
  expect_words("add.s32 %tw0, %w0, %w1;", [](uint32_t a, uint32_t b, uint32_t) { return a + b; });
  expect_words("sub.u32 %tw0, %w0, %w1;", [](uint32_t a, uint32_t b, uint32_t) { return a - b; });
  expect_words("add.sat.s32 %tw0, %w0, %w1;",
               [](int32_t a, int32_t b, uint32_t) { return clamped<int32_t>(int64_t{a} + b); });
  expect_words("sub.sat.s32 %tw0, %w0, %w1;",
               [](int32_t a, int32_t b, uint32_t) { return clamped<int32_t>(int64_t{a} - b); });
  expect_longs("add.s64 %result, %a0, %a1;",
               [](uint64_t a, uint64_t b, uint64_t) { return a + b; });
  expect_longs("sub.s64 %result, %a0, %a1;",
               [](uint64_t a, uint64_t b, uint64_t) { return a - b; });
  expect_longs("add.u16 %th0, %h0, %h1; cvt.u64.u16 %result, %th0;",
               [](uint16_t a, uint16_t b, uint64_t) { return static_cast<uint16_t>(a + b); });
}

TEST(IntegerInstructions, Products) {
  expect_words("mul.lo.s32 %tw0, %w0, %w1;",
               [](uint32_t a, uint32_t b, uint32_t) { return a * b; });
  expect_words("mul.hi.s32 %tw0, %w0, %w1;",
               [](int32_t a, int32_t b, uint32_t) { return (int64_t{a} * b) >> 32; });
  expect_words("mul.hi.u32 %tw0, %w0, %w1;",
               [](uint32_t a, uint32_t b, uint32_t) { return (uint64_t{a} * b) >> 32; });
  expect_words("mad.lo.s32 %tw0, %w0, %w1, %w2;",
               [](uint32_t a, uint32_t b, uint32_t c) { return a * b + c; });
  expect_words("mad.hi.sat.s32 %tw0, %w0, %w1, %w2;", [](int32_t a, int32_t b, int32_t c) {
    return clamped<int32_t>(((int64_t{a} * b) >> 32) + c);
  });
  expect_longs("mul.wide.s32 %result, %w0, %w1;",
               [](int32_t a, int32_t b, uint64_t) { return int64_t{a} * b; });
  expect_longs("mad.wide.u32 %result, %w0, %w1, %a2;",
               [](uint32_t a, uint32_t b, uint64_t c) { return uint64_t{a} * b + c; });
  expect_longs("mul.wide.s16 %tw0, %h0, %h1; cvt.s64.s32 %result, %tw0;",
               [](int16_t a, int16_t b, uint64_t) { return int64_t{a} * b; });
  expect_longs("mul.hi.s64 %result, %a0, %a1;",
               [](int64_t a, int64_t b, uint64_t) { return (Signed128{a} * b) >> 64; });
  expect_longs("mul.hi.u64 %result, %a0, %a1;",
               [](uint64_t a, uint64_t b, uint64_t) { return (Unsigned128{a} * b) >> 64; });
  expect_longs(
      "mul.lo.u16 %th0, %h0, %h1; cvt.u64.u16 %result, %th0;",
      [](uint16_t a, uint16_t b, uint64_t) { return static_cast<uint16_t>(uint32_t{a} * b); });
}

TEST(IntegerInstructions, ProductsOf24Bits) {
  const auto s24 = [](uint32_t x) { return int64_t{static_cast<int32_t>(x << 8) >> 8}; };
  const auto u24 = [](uint32_t x) { return uint64_t{x & 0xffffff}; };
  expect_words("mul24.lo.s32 %tw0, %w0, %w1;",
               [&](uint32_t a, uint32_t b, uint32_t) { return s24(a) * s24(b); });
  expect_words("mul24.hi.s32 %tw0, %w0, %w1;",
               [&](uint32_t a, uint32_t b, uint32_t) { return (s24(a) * s24(b)) >> 16; });
  expect_words("mul24.hi.u32 %tw0, %w0, %w1;",
               [&](uint32_t a, uint32_t b, uint32_t) { return (u24(a) * u24(b)) >> 16; });
  expect_words("mad24.lo.u32 %tw0, %w0, %w1, %w2;",
               [&](uint32_t a, uint32_t b, uint32_t c) { return u24(a) * u24(b) + c; });
}

TEST(IntegerInstructions, QuotientsWithZeroAndTheLowestInteger) {
  expect_words("div.s32 %tw0, %w0, %w1;", [](int32_t a, int32_t b, uint32_t) {
    return b == 0 ? -1 : static_cast<int32_t>(int64_t{a} / b);
  });
  expect_words("rem.s32 %tw0, %w0, %w1;", [](int32_t a, int32_t b, uint32_t) {
    return b == 0 ? -1 : static_cast<int32_t>(int64_t{a} % b);
  });
  expect_words("div.u32 %tw0, %w0, %w1;",
               [](uint32_t a, uint32_t b, uint32_t) { return b == 0 ? ~0u : a / b; });
  expect_longs("div.s64 %result, %a0, %a1;", [](int64_t a, int64_t b, uint64_t) {
    return b == 0 ? -1 : static_cast<int64_t>(Signed128{a} / b);
  });
  expect_longs("rem.u64 %result, %a0, %a1;",
               [](uint64_t a, uint64_t b, uint64_t) { return b == 0 ? ~uint64_t{0} : a % b; });
}

TEST(IntegerInstructions, SignsMinimaAndDifferences) {
  expect_words("abs.s32 %tw0, %w0;",
               [](uint32_t a, uint32_t, uint32_t) { return a >> 31 ? 0 - a : a; });
  expect_words("neg.s32 %tw0, %w0;", [](uint32_t a, uint32_t, uint32_t) { return 0 - a; });
  expect_words("min.s32 %tw0, %w0, %w1;",
               [](int32_t a, int32_t b, uint32_t) { return std::min(a, b); });
  expect_words("max.u32 %tw0, %w0, %w1;",
               [](uint32_t a, uint32_t b, uint32_t) { return std::max(a, b); });
  expect_words("max.relu.s32 %tw0, %w0, %w1;", [](int32_t a, int32_t b, uint32_t) {
    return std::max({a, b, 0});
  });
  expect_words("sad.s32 %tw0, %w0, %w1, %w2;",
               [](int32_t a, int32_t b, int32_t c) { return std::abs(int64_t{a} - b) + c; });
  expect_words("min.s16x2 %tw0, %w0, %w1;", [](uint32_t a, uint32_t b, uint32_t) {
    const auto low = std::min(static_cast<int16_t>(a), static_cast<int16_t>(b));
    const auto high = std::min(static_cast<int16_t>(a >> 16), static_cast<int16_t>(b >> 16));
    return static_cast<uint32_t>(static_cast<uint16_t>(high)) << 16 | static_cast<uint16_t>(low);
  });
}

TEST(IntegerInstructions, CarriesOfSumsOf128Bits) {
  expect_longs("add.cc.u64 %ta0, %a0, %a1; addc.u64 %result, %a2, %a1;",
               [](uint64_t a, uint64_t b, uint64_t c) {
                 const Unsigned128 sum = (Unsigned128{c} << 64 | a) + (Unsigned128{b} << 64 | b);
                 return static_cast<uint64_t>(sum >> 64);
               });
  expect_longs(
      "sub.cc.u32 %tw0, %w0, %w1; subc.cc.u32 %tw1, %w2, %w0; subc.u32 %tw2, %w0, %w1; mov.b64 "
      "%result, {%tw1, %tw2};",
      [](uint32_t a, uint32_t b, uint32_t c) {
        const Unsigned128 x = Unsigned128{a} << 64 | Unsigned128{c} << 32 | a;
        const Unsigned128 y = Unsigned128{b} << 64 | Unsigned128{a} << 32 | b;
        return static_cast<uint64_t>((x - y) >> 32);
      });
  expect_longs(
      "mul.lo.u32 %tw0, %w0, %w1; mad.lo.cc.u32 %tw1, %w0, %w1, %w2; madc.hi.u32 %tw2, %w0, %w1, "
      "0; mov.b64 %result, {%tw1, %tw2};",
      [](uint32_t a, uint32_t b, uint32_t c) { return uint64_t{a} * b + c; });
}

TEST(IntegerInstructions, DotProducts) {
  expect_words("dp4a.s32.u32 %tw0, %w0, %w1, %w2;", [](uint32_t a, uint32_t b, uint32_t c) {
    for (int i = 0; i < 32; i += 8)
      c +=
          static_cast<uint32_t>(static_cast<signed char>(a >> i) * static_cast<int>(b >> i & 0xff));
    return c;
  });
  expect_words("dp2a.hi.s32.s32 %tw0, %w0, %w1, %w2;", [](uint32_t a, uint32_t b, uint32_t c) {
    c += static_cast<uint32_t>(static_cast<int16_t>(a) * static_cast<signed char>(b >> 16));
    return c +
           static_cast<uint32_t>(static_cast<int16_t>(a >> 16) * static_cast<signed char>(b >> 24));
  });
}

TEST(IntegerInstructions, VideoOnWordsAndOnParts) {
  expect_words("vabsdiff4.u32.u32.u32.add %tw0, %w0, %w1, %w2;",
               [](uint32_t a, uint32_t b, uint32_t c) {
                 for (int i = 0; i < 32; i += 8)
                   c += static_cast<uint32_t>(
                       std::abs(static_cast<int>(a >> i & 255) - static_cast<int>(b >> i & 255)));
                 return c;
               });
  expect_words("vadd2.s32.s32.s32.sat %tw0, %w0, %w1, %w2;", [](uint32_t a, uint32_t b, uint32_t) {
    const auto half = [](uint32_t x, uint32_t y) {
      return static_cast<uint16_t>(
          clamped<int16_t>(static_cast<int16_t>(x) + static_cast<int16_t>(y)));
    };
    return static_cast<uint32_t>(half(a >> 16, b >> 16)) << 16 | half(a, b);
  });
  expect_words("vsub.s32.u32.u32.sat %tw0, %w0, %w1;",
               [](uint32_t a, uint32_t b, uint32_t) { return clamped<int32_t>(int64_t{a} - b); });
  expect_words("vmax.s32.s32.s32.add %tw0, %w0, %w1, %w2;", [](int32_t a, int32_t b, uint32_t c) {
    return static_cast<uint32_t>(std::max(a, b)) + c;
  });
}

TEST(IntegerInstructions, ConversionsBetweenIntegers) {
  expect_longs("cvt.s64.s32 %result, %w0;",
               [](int32_t a, uint64_t, uint64_t) { return int64_t{a}; });
  expect_longs("cvt.u64.u8 %result, %h0;", [](uint64_t a, uint64_t, uint64_t) { return a & 0xff; });
  expect_longs("cvt.s64.s8 %result, %w0;",
               [](uint64_t a, uint64_t, uint64_t) { return int64_t{static_cast<signed char>(a)}; });
  expect_words("cvt.u32.s8 %tw0, %a0;",
               [](uint32_t a, uint32_t, uint32_t) { return static_cast<signed char>(a); });
  expect_words("cvt.s8.s32 %tw0, %w0;",
               [](uint32_t a, uint32_t, uint32_t) { return static_cast<signed char>(a); });
  expect_words("cvt.sat.u8.s32 %tw0, %w0;",
               [](int32_t a, uint32_t, uint32_t) { return std::clamp(a, 0, 255); });
  expect_words("cvt.sat.s16.u32 %tw0, %w0;",
               [](uint32_t a, uint32_t, uint32_t) { return std::min(a, 0x7fffu); });
  expect_longs("cvt.sat.u32.s64 %tw0, %a0; cvt.u64.u32 %result, %tw0;",
               [](int64_t a, uint64_t, uint64_t) { return std::clamp<int64_t>(a, 0, 0xffffffff); });
  expect_longs("cvt.sat.s64.u64 %result, %a0;",
               [](uint64_t a, uint64_t, uint64_t) { return std::min(a, ~uint64_t{0} >> 1); });
}

}  // namespace
}  // namespace halfgrad::emulator
