#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "../simt/small_gpu.h"

namespace halfgrad::emulator {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

/// Operands of lane i: every pair of a list of edge values comes up.
template <class T>
std::pair<T, T> operands_of(const std::vector<T>& edges, unsigned lane) {
  return {edges[lane % edges.size()], edges[lane / edges.size() % edges.size()]};
}

/// Runs `atom.global.<form>` with one memory cell for each of 64 threads, and compares the cells
/// with the expected values and the results with the old values.
template <class T>
void expect_atomics(const std::string& form, const std::string& type, const std::vector<T>& edges,
                    const std::function<T(T, T)>& expected) {
  SmallGpu gpu;
  const std::string bits = std::to_string(8 * sizeof(T)), registers = sizeof(T) == 8 ? "%rd" : "%r";
  T* cells = reinterpret_cast<T*>(&gpu.word(0));
  for (unsigned i = 0; i < 64; ++i) {
    const auto [cell, operand] = operands_of(edges, i);
    cells[i] = cell;
    cells[64 + i] = operand;
  }
  const std::string step = std::to_string(64 * sizeof(T)), twice = std::to_string(128 * sizeof(T));
  gpu.launch(kernel("mul.wide.u32 %rd2, %r1, " + std::to_string(sizeof(T)) +
                    ";\nadd.s64 %rd2, %rd1, %rd2;\nld.global.b" + bits + " " + registers +
                    "5, [%rd2+" + step + "];\natom.global." + form + "." + type + " " + registers +
                    "6, [%rd2], " + registers + "5;\nst.global.b" + bits + " [%rd2+" + twice +
                    "], " + registers + "6;\nret;"),
             {}, {64});
  for (unsigned i = 0; i < 64; ++i) {
    const auto [cell, operand] = operands_of(edges, i);
    EXPECT_EQ(cells[i], expected(cell, operand)) << form << " " << cell << " " << operand;
    EXPECT_EQ(cells[128 + i], cell) << form;
  }
}

const std::vector<U32> kEdges32{0, 1, 2, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 12345};
const std::vector<U64> kEdges64{0,          1,       0x7fffffffffffffff, 0x8000000000000000,
                                0xffffffff, ~U64{0}, 0x100000000,        5};

TEST(Atomics, IntegersOf32Bits) {
  const auto check = [](const char* form, const char* type, std::function<U32(U32, U32)> f) {
    expect_atomics<U32>(form, type, kEdges32, f);
  };
  const auto s = [](U32 x) { return static_cast<std::int32_t>(x); };
  check("add", "u32", [](U32 a, U32 b) { return a + b; });
  check("add", "s32", [](U32 a, U32 b) { return a + b; });
  check("min", "u32", [](U32 a, U32 b) { return a < b ? a : b; });
  check("max", "u32", [](U32 a, U32 b) { return a < b ? b : a; });
  check("min", "s32", [s](U32 a, U32 b) { return s(a) < s(b) ? a : b; });
  check("max", "s32", [s](U32 a, U32 b) { return s(a) < s(b) ? b : a; });
  check("and", "b32", [](U32 a, U32 b) { return a & b; });
  check("or", "b32", [](U32 a, U32 b) { return a | b; });
  check("xor", "b32", [](U32 a, U32 b) { return a ^ b; });
  check("exch", "b32", [](U32, U32 b) { return b; });
  check("inc", "u32", [](U32 a, U32 b) { return a >= b ? 0 : a + 1; });
  check("dec", "u32", [](U32 a, U32 b) { return a == 0 || a > b ? b : a - 1; });
}

TEST(Atomics, IntegersOf64Bits) {
  const auto check = [](const char* form, const char* type, std::function<U64(U64, U64)> f) {
    expect_atomics<U64>(form, type, kEdges64, f);
  };
  const auto s = [](U64 x) { return static_cast<std::int64_t>(x); };
  check("add", "u64", [](U64 a, U64 b) { return a + b; });
  check("min", "s64", [s](U64 a, U64 b) { return s(a) < s(b) ? a : b; });
  check("max", "s64", [s](U64 a, U64 b) { return s(a) < s(b) ? b : a; });
  check("min", "u64", [](U64 a, U64 b) { return a < b ? a : b; });
  check("max", "u64", [](U64 a, U64 b) { return a < b ? b : a; });
  check("and", "b64", [](U64 a, U64 b) { return a & b; });
  check("or", "b64", [](U64 a, U64 b) { return a | b; });
  check("xor", "b64", [](U64 a, U64 b) { return a ^ b; });
  check("exch", "b64", [](U64, U64 b) { return b; });
}

TEST(Atomics, FloatsAddAndFlushSubnormalValuesInGlobalMemory) {
  const auto bits = [](float x) { return std::bit_cast<U32>(x); };
  const std::vector<U32> edges{bits(0.0f), bits(-0.0f),    bits(1.5f),      0x00400000,
                               0x80000001, bits(INFINITY), bits(-INFINITY), 0x7fc00001};
  const auto flush = [](U32 x) { return (x & 0x7f800000) == 0 ? x & 0x80000000 : x; };
  expect_atomics<U32>("add", "f32", edges, [&](U32 a, U32 b) -> U32 {
    const float sum = std::bit_cast<float>(flush(a)) + std::bit_cast<float>(flush(b));
    return sum != sum ? 0x7fffffff : bits(sum);
  });
  const std::vector<U64> doubles{0, std::bit_cast<U64>(1.5), std::bit_cast<U64>(-1e308), 1,
                                 std::bit_cast<U64>(1e-300)};
  expect_atomics<U64>("add", "f64", doubles, [](U64 a, U64 b) {
    return std::bit_cast<U64>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
  });
}

TEST(Atomics, SharedFloatsKeepSubnormalValues) {
  SmallGpu gpu;
  gpu.launch(kernel(".shared .align 4 .b32 cell;\nmov.u32 %r3, 3;\nst.shared.u32 [cell], %r3;\n"
                    "mov.u32 %r4, 4;\natom.shared.add.f32 %r5, [cell], %r4;\n"
                    "ld.shared.u32 %r2, [cell];\n" +
                    std::string(kStoreResult)),
             {}, {1});
  EXPECT_EQ(gpu.word(0), 7u);
}

TEST(Atomics, HalvesRoundOnce) {
  SmallGpu gpu;
  gpu.word(0) = 0x3c003c00;                       // f16: 1, 1
  gpu.word(1) = 0x3f803f80;                       // bf16: 1, 1
  gpu.word(2) = 0x00003c00;                       // f16: 1
  gpu.word(3) = 0x7e003c00;                       // f16: 1, NaN
  gpu.launch(kernel("mov.b32 %r3, 0x90000c00;\n"  // f16: 2^-12, -2^-11
                    "atom.global.add.noftz.f16x2 %r4, [%rd1], %r3;\nst.global.u32 [%rd1+32], %r4;\n"
                    "mov.b32 %r5, 0xbb803b80;\n"  // bf16: 2^-8, -2^-8
                    "red.global.add.noftz.bf16x2 [%rd1+4], %r5;\n"
                    ".reg .b16 %h<4>;\nmov.b16 %h1, 0x1400;\n"  // 2^-10, the last digit of 1
                    "atom.global.add.noftz.f16 %h2, [%rd1+8], %h1;\nst.global.b16 [%rd1+36], %h2;\n"
                    "red.global.add.noftz.f16x2 [%rd1+12], %r3;\nret;"),
             {}, {1});
  EXPECT_EQ(gpu.word(0), 0x3bff3c00u);
  EXPECT_EQ(gpu.word(8), 0x3c003c00u);
  EXPECT_EQ(gpu.word(1), 0x3f7f3f80u);
  EXPECT_EQ(gpu.word(2), 0x3c01u);
  EXPECT_EQ(gpu.word(9), 0x3c00u);
  EXPECT_EQ(gpu.word(3), 0x7fff3c00u);
}

TEST(Atomics, VectorsUpdateEachElement) {
  SmallGpu gpu;
  for (unsigned i = 0; i < 4; ++i) gpu.word(i) = std::bit_cast<U32>(1.0f + static_cast<float>(i));
  gpu.word(4) = 0x3c00c000;  // f16: -2, 1
  gpu.word(5) = 0x7e004000;  // f16: 2, NaN
  gpu.launch(kernel("mov.b32 %r3, 0f3F000000;\n"
                    "atom.global.v4.f32.add {%r4, %r5, %r6, %r7}, [%rd1], {%r3, %r3, %r3, %r3};\n"
                    "st.global.v4.b32 [%rd1+32], {%r4, %r5, %r6, %r7};\n"
                    "mov.b32 %r8, 0x00000000;\n"
                    "red.global.v2.f16x2.max.noftz [%rd1+16], {%r8, %r8};\nret;"),
             {}, {2});
  for (unsigned i = 0; i < 4; ++i) {
    const float first = 1.0f + static_cast<float>(i);
    EXPECT_EQ(std::bit_cast<float>(gpu.word(i)), first + 1.0f);
    EXPECT_EQ(std::bit_cast<float>(gpu.word(8 + i)), first + 0.5f);  // second thread's old value
  }
  EXPECT_EQ(gpu.word(4), 0x3c000000u);
  EXPECT_EQ(gpu.word(5), 0x00004000u);
}

TEST(Atomics, CompareAndSwapOfEverySize) {
  SmallGpu gpu;
  gpu.word(0) = 0xaaaa0007;
  gpu.word(1) = 7;
  gpu.word(2) = 7;
  gpu.word(4) = 7;
  gpu.launch(
      kernel(".reg .b16 %h<4>;\n.reg .b128 %q<4>;\n"
             "mov.b16 %h1, 7;\nmov.b16 %h2, 9;\natom.global.cas.b16 %h3, [%rd1], %h1, %h2;\n"
             "st.global.b16 [%rd1+64], %h3;\n"
             "atom.global.cas.b32 %r3, [%rd1+4], 7, 9;\natom.global.cas.b32 %r4, [%rd1+4], 7, 8;\n"
             "st.global.v2.b32 [%rd1+72], {%r3, %r4};\n"
             "atom.global.cas.b64 %rd3, [%rd1+8], 7, 9;\nst.global.b64 [%rd1+80], %rd3;\n"
             "mov.u64 %rd4, 7;\nmov.u64 %rd5, 0;\nmov.u64 %rd6, 9;\nmov.b128 %q1, {%rd4, %rd5};\n"
             "mov.b128 %q2, {%rd6, %rd5};\natom.global.cas.b128 %q3, [%rd1+16], %q1, %q2;\n"
             "st.global.b128 [%rd1+96], %q3;\natom.global.exch.b128 %q3, [%rd1+16], %q1;\n"
             "st.global.b128 [%rd1+112], %q3;\nret;"),
      {}, {1});
  EXPECT_EQ(gpu.word(0), 0xaaaa0009u);
  EXPECT_EQ(gpu.word(16), 7u);
  EXPECT_EQ(gpu.word(1), 9u);
  EXPECT_EQ(gpu.word(18), 7u);
  EXPECT_EQ(gpu.word(19), 9u);
  EXPECT_EQ(gpu.word(2), 9u);
  EXPECT_EQ(gpu.word(20), 7u);
  EXPECT_EQ(gpu.word(4), 7u);
  EXPECT_EQ(gpu.word(24), 7u);
  EXPECT_EQ(gpu.word(28), 9u);
}

// ---- Several blocks on several host threads: more blocks than one thread runs alone

TEST(AtomicsOfBlocks, NoUpdateIsLost) {
  SmallGpu gpu;
  gpu.settings.threads = 4;
  gpu.launch(
      kernel("mov.u32 %r3, 0;\nmov.b32 %r4, 0f3F800000;\nmov.b32 %r5, 0x00013c00;\n"
             "again:\natom.global.add.u32 %r6, [%rd1], 1;\nred.global.add.f32 [%rd1+4], %r4;\n"
             "red.global.add.noftz.f16x2 [%rd1+8], %r5;\nred.global.max.u32 [%rd1+12], %r6;\n"
             "atom.add.u64 %rd3, [%rd1+16], 0x100000001;\n"
             "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 100;\n@%p1 bra again;\nret;"),
      {400}, {32});
  constexpr U32 kUpdates = 400 * 32 * 100;
  EXPECT_EQ(gpu.word(0), kUpdates);
  EXPECT_EQ(std::bit_cast<float>(gpu.word(1)), static_cast<float>(kUpdates));
  EXPECT_EQ(gpu.word(2) & 0xffff, 0x6800u);  // 2048: adding 1 changes nothing from there
  EXPECT_EQ(gpu.word(3), kUpdates - 1);
  EXPECT_EQ(gpu.word(4), kUpdates);
  EXPECT_EQ(gpu.word(5), kUpdates);
}

TEST(AtomicsOfBlocks, ASpinLockExcludes) {
  SmallGpu gpu;
  gpu.settings.threads = 4;
  // Lane 0 of each block takes the lock, and adds 1 without an atomic.
  gpu.launch(
      kernel("mov.u32 %r5, 0;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra done;\n"
             "again:\ntake:\natom.global.acquire.gpu.cas.b32 %r3, [%rd1], 0, 1;\n"
             "setp.ne.u32 %p2, %r3, 0;\n@%p2 bra take;\n"
             "ld.global.u32 %r4, [%rd1+64];\nadd.u32 %r4, %r4, 1;\nst.global.u32 [%rd1+64], %r4;\n"
             "membar.gl;\nst.release.gpu.global.u32 [%rd1], 0;\n"
             "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p3, %r5, 100;\n@%p3 bra again;\n"
             "done:\nret;"),
      {300}, {64});
  EXPECT_EQ(gpu.word(16), 30000u);
}

TEST(Atomics, UnknownFormsHaveNoResult) {
  for (const char* form :
       {"atom.global.add.b32 %r3, [%rd1], 1;", "atom.global.inc.u64 %rd3, [%rd1], 1;",
        "atom.global.and.u32 %r3, [%rd1], 1;", "atom.global.frob.u32 %r3, [%rd1], 1;",
        "red.async.global.add.u32 [%rd1], 1;"}) {
    SmallGpu gpu;
    EXPECT_ANY_THROW(gpu.launch(kernel(std::string(form) + "\nret;"), {}, {1})) << form;
    EXPECT_EQ(gpu.word(0), 0u);
  }
}

}  // namespace
}  // namespace halfgrad::emulator
