#include <gtest/gtest.h>

#include "integer_operands.h"

namespace halfgrad::emulator {
namespace {

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

}  // namespace
}  // namespace halfgrad::emulator
