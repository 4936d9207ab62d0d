#include <gtest/gtest.h>

#include "../run_ptx.h"

namespace halfgrad::emulator {
namespace {

using std::int16_t;
using std::int32_t;
using std::int64_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
__extension__ typedef __int128 Signed128;
__extension__ typedef unsigned __int128 Unsigned128;

/// An operand as whatever integer the expected formula takes.
struct Operand64 {
  uint64_t bits;
  template <class T>
  operator T() const {
    return static_cast<T>(bits);
  }
};

/// Runs `instruction` on two words and compares with `expected(a, b)`.
template <class F>
void expect_words(const std::string& instruction, F expected) {
  const auto in = operands(3, 30000);
  const Words got = run_ptx(instruction + "\ncvt.u64.u32 %result, %tw0;", in);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto a = static_cast<uint32_t>(in[0][i]), b = static_cast<uint32_t>(in[1][i]);
    const auto c = static_cast<uint32_t>(in[2][i]);
    ASSERT_EQ(got[i], static_cast<uint32_t>(expected(Operand64{a}, Operand64{b}, Operand64{c})))
        << instruction << std::hex << " a " << a << " b " << b << " c " << c;
  }
}

template <class F>
void expect_longs(const std::string& instruction, F expected) {
  const auto in = operands(3, 30000);
  const Words got = run_ptx(instruction, in);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const uint64_t a = in[0][i], b = in[1][i], c = in[2][i];
    ASSERT_EQ(got[i], static_cast<uint64_t>(expected(Operand64{a}, Operand64{b}, Operand64{c})))
        << instruction << std::hex << " a " << a << " b " << b << " c " << c;
  }
}

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

TEST(IntegerInstructions, LogicAndShifts) {
  expect_words("and.b32 %tw0, %w0, %w1;", [](uint32_t a, uint32_t b, uint32_t) { return a & b; });
  expect_words("or.b32 %tw0, %w0, %w1;", [](uint32_t a, uint32_t b, uint32_t) { return a | b; });
  expect_words("xor.b32 %tw0, %w0, %w1;", [](uint32_t a, uint32_t b, uint32_t) { return a ^ b; });
  expect_words("not.b32 %tw0, %w0;", [](uint32_t a, uint32_t, uint32_t) { return ~a; });
  expect_words("cnot.b32 %tw0, %w0;", [](uint32_t a, uint32_t, uint32_t) { return a == 0; });
  for (unsigned table : {0x96u, 0xe8u, 0xcau, 0x01u, 0x80u}) {
    expect_words("lop3.b32 %tw0, %w0, %w1, %w2, " + std::to_string(table) + ";",
                 [&](uint32_t a, uint32_t b, uint32_t c) {
                   uint32_t r = 0;
                   for (unsigned i = 0; i < 32; ++i) {
                     const unsigned entry = (a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1);
                     r |= (table >> entry & 1) << i;
                   }
                   return r;
                 });
  }
  expect_words("shl.b32 %tw0, %w0, %w1;",
               [](uint32_t a, uint32_t n, uint32_t) { return n > 31 ? 0 : a << n; });
  expect_words("shr.u32 %tw0, %w0, %w1;",
               [](uint32_t a, uint32_t n, uint32_t) { return n > 31 ? 0 : a >> n; });
  expect_words("shr.s32 %tw0, %w0, %w1;",
               [](int32_t a, uint32_t n, uint32_t) { return a >> std::min(n, 31u); });
  expect_longs("shl.b64 %result, %a0, %w1;",
               [](uint64_t a, uint32_t n, uint64_t) { return n > 63 ? 0 : a << n; });
  expect_longs("shr.s64 %result, %a0, %w1;",
               [](int64_t a, uint32_t n, uint64_t) { return a >> std::min(n, 63u); });
  expect_longs(
      "shl.b16 %th0, %h0, %w1; cvt.u64.u16 %result, %th0;",
      [](uint16_t a, uint32_t n, uint64_t) { return n > 15 ? 0 : static_cast<uint16_t>(a << n); });
  expect_words("shf.l.wrap.b32 %tw0, %w0, %w1, %w2;", [](uint32_t a, uint32_t b, uint32_t n) {
    return ((uint64_t{b} << 32 | a) << (n & 31)) >> 32;
  });
  expect_words("shf.r.clamp.b32 %tw0, %w0, %w1, %w2;", [](uint32_t a, uint32_t b, uint32_t n) {
    return (uint64_t{b} << 32 | a) >> std::min(n, 32u);
  });
}

TEST(IntegerInstructions, BitFields) {
  expect_words("popc.b32 %tw0, %w0;",
               [](uint32_t a, uint32_t, uint32_t) { return __builtin_popcount(a); });
  expect_longs("clz.b64 %tw0, %a0; cvt.u64.u32 %result, %tw0;",
               [](uint64_t a, uint64_t, uint64_t) { return a == 0 ? 64 : __builtin_clzll(a); });
  expect_words("bfind.s32 %tw0, %w0;", [](uint32_t a, uint32_t, uint32_t) {
    const uint32_t x = a >> 31 ? ~a : a;
    return x == 0 ? ~0u : 31u - static_cast<uint32_t>(__builtin_clz(x));
  });
  expect_words("bfind.shiftamt.u32 %tw0, %w0;", [](uint32_t a, uint32_t, uint32_t) {
    return a == 0 ? ~0u : static_cast<uint32_t>(__builtin_clz(a));
  });
  expect_longs("brev.b64 %result, %a0;", [](uint64_t a, uint64_t, uint64_t) {
    uint64_t r = 0;
    for (int i = 0; i < 64; ++i) r |= (a >> i & 1) << (63 - i);
    return r;
  });
  const auto extract = [](auto a, uint32_t position, uint32_t length) {
    // The reference implementation of the PTX ISA, bit by bit.
    const int bits = 8 * sizeof a, p = position & 0xff, n = length & 0xff;
    const bool is_signed = a < 0 || std::is_signed_v<decltype(a)>;
    const bool sign =
        is_signed && n != 0 && (static_cast<uint64_t>(a) >> std::min(p + n - 1, bits - 1) & 1);
    uint64_t d = 0;
    for (int i = 0; i < bits; ++i) {
      const bool bit = i < n && p + i < bits ? static_cast<uint64_t>(a) >> (p + i) & 1 : sign;
      d |= uint64_t{bit} << i;
    }
    return d;
  };
  expect_words("bfe.u32 %tw0, %w0, %w1, %w2;",
               [&](uint32_t a, uint32_t p, uint32_t n) { return extract(a, p, n); });
  expect_words("bfe.s32 %tw0, %w0, %w1, %w2;",
               [&](int32_t a, uint32_t p, uint32_t n) { return extract(a, p, n); });
  expect_longs("bfe.s64 %result, %a0, %w1, %w2;",
               [&](int64_t a, uint32_t p, uint32_t n) { return extract(a, p, n); });
  expect_words("bfi.b32 %tw0, %w0, 0xf0f0f0f0, %w1, %w2;",
               [](uint32_t a, uint32_t position, uint32_t length) {
                 const uint32_t p = position & 0xff, n = length & 0xff;
                 uint32_t d = 0xf0f0f0f0;
                 for (uint32_t i = 0; i < n && p + i < 32; ++i)
                   d = (d & ~(1u << (p + i))) | (a >> i & 1) << (p + i);
                 return d;
               });
  expect_words("prmt.b32 %tw0, %w0, %w1, %w2;", [](uint32_t a, uint32_t b, uint32_t c) {
    uint32_t d = 0;
    for (int i = 0; i < 4; ++i) {
      const uint32_t s = c >> 4 * i & 15;
      uint32_t byte = ((s & 4 ? b : a) >> 8 * (s & 3)) & 0xff;
      if (s & 8) byte = byte & 0x80 ? 0xff : 0;
      d |= byte << 8 * i;
    }
    return d;
  });
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
