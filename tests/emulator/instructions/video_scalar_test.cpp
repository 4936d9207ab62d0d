#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>

#include "../run_ptx.h"

namespace halfgrad::emulator {
namespace {

using Formula = std::function<std::int64_t(std::int64_t a, std::int64_t b, std::uint32_t c)>;

/// Runs `instruction` of %w0, %w1 and %w2 into %tw0. `a` and `b` read the parts of the operands.
void expect(const std::string& instruction, const std::function<std::int64_t(std::uint32_t)>& a,
            const std::function<std::int64_t(std::uint32_t)>& b, const Formula& formula) {
  const std::vector<Words> inputs = operands(3, 20000, 7);
  const Words results =
      run_ptx("mov.u32 %tw0, 0;\n" + instruction + ";\ncvt.u64.u32 %result, %tw0;", inputs);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto word = [&](unsigned k) { return static_cast<std::uint32_t>(inputs[k][i]); };
    const auto expected = static_cast<std::uint32_t>(formula(a(word(0)), b(word(1)), word(2)));
    ASSERT_EQ(results[i], expected)
        << instruction << " of " << std::hex << word(0) << ", " << word(1) << ", " << word(2);
  }
}

std::int64_t u32(std::uint32_t x) { return x; }
std::int64_t s32(std::uint32_t x) { return static_cast<std::int32_t>(x); }
std::int64_t u8_1(std::uint32_t x) { return x >> 8 & 255; }
std::int64_t s8_3(std::uint32_t x) { return static_cast<std::int8_t>(x >> 24); }
std::int64_t s16_1(std::uint32_t x) { return static_cast<std::int16_t>(x >> 16); }
std::int64_t u16_0(std::uint32_t x) { return x & 0xffff; }

std::int64_t clamp_s32(std::int64_t x) { return std::clamp<std::int64_t>(x, INT32_MIN, INT32_MAX); }

TEST(ScalarVideo, SelectsPartsOfOperands) {
  expect("vadd.s32.u32.s32 %tw0, %w0.b1, %w1.h1", u8_1, s16_1,
         [](auto a, auto b, auto) { return a + b; });
  expect("vsub.s32.s32.u32.sat %tw0, %w0, %w1.h0", s32, u16_0,
         [](auto a, auto b, auto) { return clamp_s32(a - b); });
  expect("vabsdiff.u32.s32.u32 %tw0, %w0.b3, %w1.b1", s8_3, u8_1,
         [](auto a, auto b, auto) { return a < b ? b - a : a - b; });
  expect("vmin.s32.s32.s32 %tw0, %w0.b3, %w1", s8_3, s32,
         [](auto a, auto b, auto) { return std::min(a, b); });
}

TEST(ScalarVideo, CombinesWithTheThirdOperand) {
  expect("vadd.u32.u32.u32.add %tw0, %w0.b1, %w1.h0, %w2", u8_1, u16_0,
         [](auto a, auto b, auto c) { return a + b + c; });
  expect("vmax.s32.s32.s32.min %tw0, %w0.h1, %w1.b3, %w2", s16_1, s8_3, [](auto a, auto b, auto c) {
    return std::min<std::int64_t>(std::max(a, b), static_cast<std::int32_t>(c));
  });
}

TEST(ScalarVideo, MergesIntoAPartOfTheResult) {
  expect("vadd.u32.u32.u32 %tw0.b2, %w0, %w1, %w2", u32, u32, [](auto a, auto b, auto c) {
    return (c & ~0xff0000u) | (static_cast<std::uint32_t>(a + b) << 16 & 0xff0000u);
  });
  expect("vsub.s32.s32.s32.sat %tw0.h1, %w0, %w1, %w2", s32, s32, [](auto a, auto b, auto c) {
    const auto half = static_cast<std::uint32_t>(std::clamp<std::int64_t>(a - b, -32768, 32767));
    return (c & 0xffffu) | half << 16;
  });
}

TEST(ScalarVideo, Shifts) {
  expect("vshl.u32.u32.u32.clamp %tw0, %w0, %w1", u32, u32,
         [](auto a, auto b, auto) { return b >= 32 ? 0 : a << b; });
  expect("vshl.u32.u32.u32.wrap.add %tw0, %w0, %w1, %w2", u32, u32,
         [](auto a, auto b, auto c) { return static_cast<std::uint32_t>(a << (b & 31)) + c; });
  expect("vshr.s32.s32.u32.clamp %tw0, %w0, %w1", s32, u32,
         [](auto a, auto b, auto) { return a >> std::min<std::int64_t>(b, 32); });
  expect("vshr.u32.u32.u32.wrap %tw0, %w0, %w1.b1", u32, u8_1,
         [](auto a, auto b, auto) { return a >> (b & 31); });
}

TEST(ScalarVideo, MultipliesAndAdds) {
  expect("vmad.u32.u32.u32 %tw0, %w0.b1, %w1.h0, %w2", u8_1, u16_0,
         [](auto a, auto b, auto c) { return a * b + c; });
  expect("vmad.s32.s32.s32.shr7 %tw0, %w0.h1, %w1.b3, %w2", s16_1, s8_3,
         [](auto a, auto b, auto c) { return (a * b + static_cast<std::int32_t>(c)) >> 7; });
  expect("vmad.s32.s32.u32.sat.shr15 %tw0, %w0, %w1.h0, %w2", s32, u16_0,
         [](auto a, auto b, auto c) {
           return clamp_s32((a * b + static_cast<std::int32_t>(c)) >> 15);
         });
  expect("vmad.u32.u32.u32.po %tw0, %w0.b1, %w1.h0, %w2", u8_1, u16_0,
         [](auto a, auto b, auto c) { return a * b + c + 1; });
}

TEST(ScalarVideo, Compares) {
  expect("vset.s32.u32.lt %tw0, %w0, %w1", s32, u32,
         [](auto a, auto b, auto) { return a < b ? 1 : 0; });
  expect("vset.u32.u32.ge.add %tw0, %w0.b1, %w1.h0, %w2", u8_1, u16_0,
         [](auto a, auto b, auto c) { return (a >= b ? 1 : 0) + std::int64_t{c}; });
}

TEST(Move, PacksAndUnpacksBytes) {
  const std::vector<Words> inputs = operands(2, 5000, 9);
  const Words packed = run_ptx(
      ".reg .b8 %c<4>;\ncvt.u8.u32 %c0, %w0;\ncvt.u8.u32 %c1, %w1;\nmov.b16 %th0, {%c0, %c1};\n"
      "mov.b32 %tw0, {%c0, %c1, %c1, %c0};\nmov.b32 {%c0, %c1, %c2, %c3}, %w0;\n"
      "mov.b16 {%c0, %c1}, %h1;\n"
      "cvt.u32.u16 %tw1, %th0;\ncvt.u32.u8 %tw2, %c3;\nadd.u32 %tw1, %tw1, %tw2;\n"
      "cvt.u32.u8 %tw2, %c1;\nshl.b32 %tw2, %tw2, 20;\nadd.u32 %tw1, %tw1, %tw2;\n"
      "mov.b64 %result, {%tw0, %tw1};",
      inputs);
  for (std::size_t i = 0; i < packed.size(); ++i) {
    const std::uint64_t a = inputs[0][i] & 255, b = inputs[1][i] & 255;
    const std::uint64_t low = a | b << 8 | b << 16 | a << 24;
    const std::uint64_t high =
        (a | b << 8) + (inputs[0][i] >> 24 & 255) + ((inputs[1][i] >> 8 & 255) << 20);
    ASSERT_EQ(packed[i], low | high << 32) << i;
  }
}

}  // namespace
}  // namespace halfgrad::emulator
