// wgmma.mma_async of all types, layouts of shared memory and sources of A, against host products.
#include "wgmma_run.h"

namespace halfgrad::emulator {
namespace {

std::vector<WgmmaForm> types() {
  return {{kF16, kF16, kF32},   {kF16, kF16, kF16},   {kBF16, kBF16, kF32},
          {kTF32, kTF32, kF32}, {kE4M3, kE5M2, kF32}, {kE5M2, kE4M3, kF16},
          {kS8, kU8, kS32},     {kU8, kS8, kS32},     {kB1, kB1, kS32}};
}

TEST(Wgmma, MultipliesEachTypeInEachLayout) {
  for (WgmmaForm form : types()) {
    for (const unsigned swizzle : {0u, 32u, 64u, 128u}) {
      for (const bool in_registers : {false, true}) {
        form.swizzle = swizzle;
        form.a_in_registers = in_registers;
        ASSERT_NO_FATAL_FAILURE(expect_product(form));
      }
    }
  }
}

TEST(Wgmma, MultipliesTransposedOperands) {
  for (const ElementType& type : {kF16, kBF16}) {
    for (const unsigned swizzle : {0u, 32u, 64u, 128u}) {
      for (const unsigned which : {1u, 2u, 3u}) {
        ASSERT_NO_FATAL_FAILURE(expect_product({.a = type,
                                                .b = type,
                                                .d = kF32,
                                                .swizzle = swizzle,
                                                .transposed_a = (which & 1) != 0,
                                                .transposed_b = (which & 2) != 0}));
      }
      ASSERT_NO_FATAL_FAILURE(expect_product({.a = type,
                                              .b = type,
                                              .d = kF32,
                                              .swizzle = swizzle,
                                              .a_in_registers = true,
                                              .transposed_b = true}));
    }
  }
}

TEST(Wgmma, HasFrom8To256Columns) {
  for (WgmmaForm form : types()) {
    for (const unsigned n : {8u, 24u, 128u, 256u}) {
      form.n = n;
      form.swizzle = 128;
      ASSERT_NO_FATAL_FAILURE(expect_product(form));
    }
  }
}

// A loop over k moves the descriptor inside the pattern of the swizzle, by 32 bytes a step.
TEST(Wgmma, SwizzlesByTheAddressAndNotByTheDistanceFromTheStart) {
  for (const unsigned swizzle : {64u, 128u}) {
    for (unsigned advance = 32; advance < swizzle; advance += 32) {
      ASSERT_NO_FATAL_FAILURE(expect_product(
          {.a = kF16, .b = kF16, .d = kF32, .swizzle = swizzle, .advance = advance}));
    }
  }
}

TEST(Wgmma, StartsFromZeroIfScaleDIsFalse) {
  const WgmmaOperands operands(kWgmmaHalfForm);
  HostMatrix zeros(kWgmmaRows, kWgmmaHalfForm.n);
  const HostMatrix without = product(operands.a, operands.b, zeros, times);
  for (const char* scale : {"0", "%s", "!%s"}) {
    WgmmaRun run(kWgmmaHalfForm);
    run.put(operands.a, operands.b, operands.d);
    const std::string set = std::string("setp.ne.u32 %s, 1, ") + (scale[0] == '!' ? "0" : "1");
    run.run(set + ";\n" + kWgmmaFence + run.statement(run.rest(scale)) + kWgmmaCommit + kWgmmaWait);
    ASSERT_NO_FATAL_FAILURE(expect_results(run, without, kWgmmaHalfForm)) << scale;
  }
}

TEST(Wgmma, NegatesOperands) {
  for (const int scale_a : {1, -1}) {
    for (const int scale_b : {1, -1}) {
      const WgmmaOperands operands(kWgmmaHalfForm);
      HostMatrix a = operands.a;
      for (std::int64_t& one : a.values) one *= scale_a * scale_b;
      WgmmaRun run(kWgmmaHalfForm);
      run.put(operands.a, operands.b, operands.d);
      run.run(kWgmmaFence + run.statement(run.rest("1", scale_a, scale_b)) + kWgmmaCommit +
              kWgmmaWait);
      ASSERT_NO_FATAL_FAILURE(
          expect_results(run, product(a, operands.b, operands.d, times), kWgmmaHalfForm));
    }
  }
}

TEST(Wgmma, SaturatesIntegers) {
  const WgmmaForm form{.a = kS8, .b = kS8, .d = kS32};
  WgmmaOperands operands(form);
  for (std::int64_t& one : operands.d.values) one = 0x7fffffff;
  WgmmaRun run(form);
  run.put(operands.a, operands.b, operands.d);
  std::string text = run.statement(run.rest("1"));
  text.insert(text.find(".s8.s8") + 6, ".satfinite");
  run.run(kWgmmaFence + text + kWgmmaCommit + kWgmmaWait);
  const HostMatrix sums = product(operands.a, operands.b, HostMatrix(kWgmmaRows, form.n), times);
  for (unsigned i = 0; i < kWgmmaRows; ++i) {
    const double sum = static_cast<double>(sums.at(i, 0));
    ASSERT_EQ(run.result(i, 0), 0x7fffffff + std::min(sum, 0.0)) << i;
  }
}

}  // namespace
}  // namespace halfgrad::emulator
